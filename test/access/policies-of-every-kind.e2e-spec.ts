import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Get } from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport, type ClientProxy } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authorize, fromHeader, fromPayload } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { always } from '../support/always.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { freePort } from '../support/server-process.js';
import { CallNotes, NotesCall, NotesCallAgain, Openings, OwnsOpening } from './openings.policies.js';

@Controller()
class OpeningsController {
  @Get('openings')
  @Authorize(OwnsOpening)
  @Authorize(NotesCall)
  @Authorize(NotesCallAgain)
  list(): string {
    return 'in';
  }

  @MessagePattern('openings')
  @Authorize(OwnsOpening)
  @Authorize(NotesCall)
  @Authorize(NotesCallAgain)
  message(): string {
    return 'in';
  }
}

@Resolver()
class OpeningsResolver {
  @Query(() => String)
  @Authorize(OwnsOpening)
  @Authorize(NotesCall)
  @Authorize(NotesCallAgain)
  openings(): string {
    return 'in';
  }
}

@WebSocketGateway()
class OpeningsGateway {
  @SubscribeMessage('openings')
  @Authorize(OwnsOpening)
  @Authorize(NotesCall)
  @Authorize(NotesCallAgain)
  message(): { event: string; data: string } {
    return { event: 'openings', data: 'in' };
  }
}

/**
 * Calls the handler of a kind with a token. Returns the caller's result: the answer, or the status of the
 * denial.
 */
type Call = (app: RunningApp, port: number, token: string) => Promise<unknown>;

const overHttp: Call = async (app, _port, token) => {
  const reply = await app.get('/openings', token);
  return reply.ok ? reply.text() : reply.status;
};

const overGraphql: Call = async (app, _port, token) => {
  const reply = (await (await postGraphql(app.url, { query: '{ openings }' }, token)).json()) as GraphqlReply;
  return reply.data?.openings ?? reply.errors?.[0]?.extensions.code;
};

const overSocket: Call = async (app, _port, token) => {
  const peer = await SOCKET_IO[2](app.url, { headers: { 'x-auth-token': token } });
  const [, data] = await peer.ask('openings');
  await peer.close();
  return (data as { readonly statusCode?: number }).statusCode ?? data;
};

const overMessages: Call = async (_app, port, token) => {
  const client: ClientProxy = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  try {
    return await firstValueFrom(client.send<unknown>('openings', { token })).catch(
      (error: unknown) => (error as { readonly statusCode: number }).statusCode,
    );
  } finally {
    client.close();
  }
};

const KINDS: [kind: string, call: Call, denial: unknown, request: object][] = [
  ['a controller', overHttp, 403, { url: '/openings' }],
  ['a resolver', overGraphql, 'FORBIDDEN', { req: expect.anything() }],
  ['a gateway', overSocket, 403, { pattern: 'openings', context: expect.anything() }],
  [
    'a message handler',
    overMessages,
    403,
    { pattern: 'openings', data: { token: expect.any(String) }, context: expect.anything() },
  ],
];

describe.each(PLATFORMS)('a policy in an application on %s', (_name, platform) => {
  let service: ScriptedService;
  let app: RunningApp;
  let port: number;

  beforeAll(async () => {
    [service, port] = await Promise.all([startScriptedService(), freePort()]);
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
    });
    const root = sampleApp({
      baseUrl: service.url,
      options: { token: [fromHeader('x-auth-token'), fromPayload('token')] },
      controllers: [OpeningsController],
      providers: [OpeningsResolver, OpeningsGateway, Openings, CallNotes, NotesCall, NotesCallAgain],
      imports: [graphql],
    });
    app = await startApp(platform, root, {
      configure: (nest) => void nest.useWebSocketAdapter(SOCKET_IO[1](nest)),
    });
    app.app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    await app.app.startAllMicroservices();
  });
  beforeEach(() => void NotesCall.noted.splice(0));
  afterAll(async () => {
    await app.close();
    await service.close();
  });

  it.each(KINDS)(
    'decides for %s, and is given the call if it is request-scoped',
    async (_kind, call, denial, request) => {
      expect(await call(app, port, service.signInAs({ username: 'ann' }))).toBe('in');
      expect(await call(app, port, service.signInAs({ username: 'ann' }))).toBe('in');
      expect(await call(app, port, service.signInAs({ username: 'bob' }))).toBe(denial);
      const numbers = NotesCall.noted.map(({ number }) => number);
      expect(numbers.slice(0, 4)).toEqual([numbers[0], numbers[0], numbers[2], numbers[2]]);
      expect(numbers[2]).not.toBe(numbers[0]);
      expect(NotesCall.noted[0]?.request).toMatchObject(request);
      const bob = service.signInAs({ username: 'bob' });
      expect(await always(() => call(app, port, bob))).toBe(denial);
    },
  );
});
