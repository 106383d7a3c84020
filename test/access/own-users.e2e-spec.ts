import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Get, Injectable, type ExecutionContext } from '@nestjs/common';
import { Field, GraphQLModule, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Authorize,
  CurrentUser,
  fromHeader,
  fromPayload,
  OptionalAuth,
  Roles,
  SessionAuthGuard,
  SessionRecord,
  UserRecord,
  type UserLoader,
} from 'nestjs-session-auth';
import { SessionContext, sessionContext } from 'nestjs-session-auth/context';
import { UseGuards } from '@nestjs/common';
import { firstValueFrom } from 'rxjs';
import { postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { always } from '../support/always.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { freePort } from '../support/server-process.js';

/** The application's own user. */
class Staff {
  constructor(
    readonly id: number,
    readonly name: string,
  ) {}
}

const IDS = new Map([
  ['ann', 7],
  ['bob', 8],
]);
const loaded: string[] = [];

@Injectable()
class StaffLoader implements UserLoader<UserRecord, Staff> {
  async load({ username = '' }: UserRecord, context: ExecutionContext): Promise<Staff | undefined> {
    loaded.push(`${username} for ${context.getHandler().name}`);
    await Promise.resolve();
    const id = IDS.get(username);
    return id === undefined ? undefined : new Staff(id, username);
  }
}

const answer = (staff: unknown, { username, role }: UserRecord): string =>
  JSON.stringify([staff instanceof Staff && staff, username, role]);

/** The rule reads the record, the policy gets both. */
const ownsOpening = ({ username }: UserRecord, _context: ExecutionContext, staff: unknown): boolean =>
  staff instanceof Staff && staff.name === username && staff.id === 7;

@Controller()
@UseGuards(SessionAuthGuard)
class StaffController {
  constructor(private readonly context: SessionContext) {}

  @Get('plain')
  plain(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    const { user, record: own } = this.context;
    return answer(staff, record) + String(user === staff && own === record);
  }

  @Get('me')
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    return answer(staff, record);
  }

  @Get('optional') @OptionalAuth() optional(@CurrentUser() staff: unknown): unknown {
    return { staff };
  }

  @MessagePattern('me')
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  message(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    return answer(staff, record);
  }
}

@ObjectType()
class Profile {
  @Field() readonly me!: string;
}

@Resolver(() => Profile)
class StaffResolver {
  @Query(() => String)
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    return answer(staff, record);
  }
}

@WebSocketGateway()
class StaffGateway {
  @SubscribeMessage('me')
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): { event: string; data: string } {
    return { event: 'me', data: answer(staff, record) };
  }
}

/** Calls the handler of a kind. Returns its answer, or the status of the denial. */
type Call = (app: RunningApp, port: number, token: string) => Promise<unknown>;

const overHttp: Call = async (app, _port, token) => {
  const reply = await app.get('/me', token);
  return reply.ok ? reply.text() : reply.status;
};

const overGraphql: Call = async (app, _port, token) => {
  const query = '{ me again: me third: me }';
  const { data, errors } = (await (await postGraphql(app.url, { query }, token)).json()) as GraphqlReply;
  return data?.me ? [data.me, data.again, data.third] : errors?.[0]?.extensions.code;
};

const overSocket: Call = async (app, _port, token) => {
  const peer = await SOCKET_IO[2](app.url, { headers: { 'x-auth-token': token } });
  const [, data] = await peer.ask('me');
  await peer.close();
  return (data as { readonly statusCode?: number }).statusCode ?? data;
};

const overMessages: Call = async (_app, port, token) => {
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  try {
    return await firstValueFrom(client.send<unknown>('me', { token })).catch(
      (error: unknown) => (error as { readonly statusCode: number }).statusCode,
    );
  } finally {
    client.close();
  }
};

const ANN = '[{"id":7,"name":"ann"},"ann","hiring_manager"]';
const KINDS: [kind: string, call: Call, answer: unknown, denial: unknown][] = [
  ['a controller', overHttp, ANN, 403],
  ['a resolver', overGraphql, [ANN, ANN, ANN], 'FORBIDDEN'],
  ['a gateway', overSocket, ANN, 403],
  ['a message handler', overMessages, ANN, 403],
];

describe.each(PLATFORMS)("the application's own user on %s", (_name, platform) => {
  let service: ScriptedService;
  let app: RunningApp;
  let port: number;
  const signIn = (username: string, role = 'hiring_manager'): string => service.signInAs({ username, role });

  beforeAll(async () => {
    [service, port] = await Promise.all([startScriptedService(), freePort()]);
    const driver = { driver: ApolloDriver, autoSchemaFile: true, graphiql: false };
    const root = sampleApp({
      baseUrl: service.url,
      options: {
        token: [fromHeader('x-auth-token'), fromPayload('token')],
        loadUser: StaffLoader,
        plugins: [sessionContext],
      },
      controllers: [StaffController],
      providers: [StaffResolver, StaffGateway, StaffLoader],
      imports: [GraphQLModule.forRoot<ApolloDriverConfig>(driver)],
    });
    app = await startApp(platform, root, {
      configure: (nest) => void nest.useWebSocketAdapter(SOCKET_IO[1](nest)),
    });
    app.app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    await app.app.startAllMicroservices();
  });
  beforeEach(() => void loaded.splice(0));
  afterAll(async () => {
    await app.close();
    await service.close();
  });

  it.each(KINDS)(
    'is loaded once for each request of %s: handlers get it, rules read the record, policies get both',
    async (_kind, call, expected, denial) => {
      expect(await call(app, port, signIn('ann'))).toEqual(expected);
      expect(loaded.map((line) => line.split(' ')[0])).toEqual(['ann']);
      const [bob, eve] = [signIn('bob'), signIn('eve')];
      expect(await always(() => call(app, port, bob))).toBe(denial);
      expect(await always(() => call(app, port, eve))).toBe(denial);
    },
  );

  it('is not loaded for a caller whom a rule denies', async () => {
    const ann = signIn('ann', 'new_hire');
    expect(await always(() => overHttp(app, port, ann))).toBe(403);
    expect(loaded).toEqual([]);
  });

  it('is in the context of the call, beside the record', async () => {
    expect(await (await app.get('/plain', signIn('bob', 'new_hire'))).text()).toBe(
      '[{"id":8,"name":"bob"},"bob","new_hire"]true',
    );
  });

  it('is loaded on an optional handler for a caller with a session, who needs one', async () => {
    expect(await (await app.get('/optional')).json()).toEqual({});
    expect(await (await app.get('/optional', signIn('ann'))).json()).toEqual({
      staff: { id: 7, name: 'ann' },
    });
    const eve = signIn('eve');
    for (const path of ['/optional', '/plain'])
      expect(await always(async () => (await app.get(path, eve)).status)).toBe(403);
  });
});
