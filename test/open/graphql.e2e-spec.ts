import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Headers,
  Inject,
  type LoggerService,
  Query as QueryParam,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { GraphQLModule, GraphQLSchemaHost, Query, Resolver, Subscription } from '@nestjs/graphql';
import { parse, subscribe, type ExecutionResult } from 'graphql';
import type { Client } from 'graphql-ws';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { CurrentUser, KeepOpen, Public, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { WebSocket } from 'ws';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { EXPRESS, type RunningApp } from '../support/platforms.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { graphqlSocket } from '../graphql/graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from '../graphql/graphql-servers.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { openReply } from './open-reply.js';

@Resolver()
@UseGuards(SessionAuthGuard)
class NewsResolver {
  @Query(() => String)
  @Public()
  name(): string {
    return 'news';
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username = ''): AsyncGenerator<{ news: string }> {
    for (;;) {
      yield { news: `hello ${username}` };
      await pause(5);
    }
  }

  @Subscription(() => String)
  @KeepOpen()
  async *keptNews(@CurrentUser('username') username = ''): AsyncGenerator<{ keptNews: string }> {
    yield await Promise.resolve({ keptNews: `hello ${username}` });
  }
}

/** Sends the events of a subscription as graphql-sse does, and begins one without a socket or a reply. */
@Controller()
class EventsController {
  constructor(@Inject(GraphQLSchemaHost) private readonly host: GraphQLSchemaHost) {}

  @Get('events')
  @Public()
  async events(@Req() req: IncomingMessage, @Res() res: ServerResponse): Promise<void> {
    const document = parse('subscription { news }');
    const results = await subscribe({ schema: this.host.schema, document, contextValue: { req, res } });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const result of results as AsyncIterable<ExecutionResult>) {
      if (res.destroyed) break;
      res.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`);
    }
  }

  @Get('nowhere')
  @Public()
  async nowhere(
    @QueryParam('field') field: string,
    @Headers('x-auth-token') token: string,
  ): Promise<unknown> {
    const document = parse(`subscription { ${field} }`);
    const contextValue = { connectionParams: { token } };
    const results = await subscribe({ schema: this.host.schema, document, contextValue });
    return 'next' in results ? (await results.next()).value : results;
  }
}

/** An application on Express. Call it inside `describe`. */
function bedWith(options: object) {
  const bed = testbed(EXPRESS);
  return async (logger?: LoggerService): Promise<{ service: ScriptedService; app: RunningApp }> => {
    const service = await bed.service();
    const sample = {
      baseUrl: service.url,
      options: { retry: false, breaker: false } as const,
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true, ...options }),
      ],
      controllers: [EventsController],
      providers: [NewsResolver],
    };
    return { service, app: await bed.sample(sample, { ...(logger && { logger }) }) };
  };
}

/** Each must be closed: an end that comes now and then is none. */
const SOCKETS = 10;

describe.each(GRAPHQL_SERVERS)('a subscription on %s', (_name, start) => {
  const clients: Client[] = [];
  let service: ScriptedService;
  let server: GraphqlServer;

  beforeAll(async () => {
    service = await startScriptedService();
    server = await start(service.url, { options: { retry: false, whileOpen: { recheckMs: 50 } } });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });
  afterAll(async () => {
    await server.close();
    await service.close();
  });

  function connect(token: string) {
    const closed: unknown[] = [];
    const client = graphqlSocket(server.url, { token }, { closed: (event) => closed.push(event) });
    clients.push(client);
    const read = (query: string) => {
      const received: unknown[] = [];
      const over = new Promise((resolve) => {
        client.subscribe(
          { query },
          {
            next: ({ data, errors }) => void received.push(errors ?? data),
            error: resolve,
            complete: () => resolve('complete'),
          },
        );
      });
      return { received, over };
    };
    return { closed, read };
  }

  it('ends with its session, at a recheck that finds it gone: each of its sockets is closed with 4401 [P39]', async () => {
    const [token, other] = [service.signInAs({ username: 'ann' }), service.signInAs({ username: 'bob' })];
    const mine = Array.from({ length: SOCKETS }, () => connect(token).read('subscription { news }'));
    const others = connect(other).read('subscription { news }');
    await until('all have begun', () => [...mine, others].every(({ received }) => received.length > 1));
    service.revoke(token);

    for (const { over } of mine) expect(await over).toMatchObject({ code: 4401, reason: 'SESSION_REJECTED' });
    const soFar = others.received.length;
    await until('the other goes on', () => others.received.length > soFar + 2);
  });

  it('leaves its socket open if it carries queries only: each of them is checked', async () => {
    const token = service.signInAs({ username: 'ann' });
    const { read, closed } = connect(token);
    const kept = read('{ __typename }');
    expect(await kept.over).toBe('complete');
    const query = read('{ openings(count: 1) { owner } }');
    expect([await query.over, query.received]).toEqual(['complete', [{ openings: [{ owner: 'ann 0' }] }]]);
    service.revoke(token);
    const later = read('{ openings(count: 1) { owner } }');
    expect([await later.over, later.received]).toMatchObject([
      'complete',
      [[{ extensions: { code: 'UNAUTHENTICATED' } }]],
    ]);
    // It would have been closed before the answer to the next query.
    await read('{ __typename }').over;
    expect(closed).toEqual([]);
  });
});

describe('a subscription over a stream of events', () => {
  const start = bedWith({ subscriptions: { 'graphql-ws': true } });

  it('ends with its session, with an error of GraphQL [P39]', async () => {
    const { service, app } = await start();
    const token = service.signInAs({ username: 'ann' });
    const stream = await openReply(`${app.url}/events`, token);
    await until('it has begun', () => stream.text().includes('hello ann'));
    await app.app.get(SessionAuthService).forgetUser('ann');

    expect(await stream.over()).toBe('complete');
    expect(stream.text()).toMatch(
      /event: next\ndata: \{"errors":\[\{.*"UNAUTHENTICATED".*\n\nevent: complete\ndata:\n\n$/,
    );
  });
});

describe('a subscription whose context has neither a socket nor a reply', () => {
  const start = bedWith({ subscriptions: { 'graphql-ws': true } });

  it('is denied with a warning, unless it may outlive its session', async () => {
    const log = new CapturedLog();
    const { service, app } = await start(log);
    const headers = { 'x-auth-token': service.signInAs({ username: 'ann' }) };
    const read = async (field: string): Promise<unknown> =>
      (await fetch(`${app.url}/nowhere?field=${field}`, { headers })).json();

    const denied = await always(() => read('news'));
    expect(denied).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect(await read('keptNews')).toEqual({ data: { keptNews: 'hello ann' } });
    expect(log.having('warn', 'unwatched subscription')).toHaveLength(1);
  });
});

/** The protocol of subscriptions-transport-ws, which NestJS 11 supports with that package, and NestJS 12 not. */
const transportWs = NEST_MAJOR === 11 ? describe : undefined;
transportWs?.('a subscription over subscriptions-transport-ws', () => {
  const start = bedWith({ subscriptions: { 'subscriptions-transport-ws': true } });

  async function begin(url: string, params: object) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-ws');
    const received: { type: string; payload?: { data?: unknown; errors?: unknown } }[] = [];
    socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString('utf8')) as never));
    const closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve([code, reason.toString()])),
    );
    await new Promise((resolve) => socket.once('open', resolve));
    const send = (message: object): void => socket.send(JSON.stringify(message));
    send({ type: 'connection_init', payload: params });
    send({ id: '1', type: 'start', payload: { query: 'subscription { news }' } });
    return { received, closed };
  }

  it('ends with its session, and its socket is closed with 4401 [P39]', async () => {
    const { service, app } = await start();
    const token = service.signInAs({ username: 'ann' });
    const { received, closed } = await begin(app.url, { token });
    await until('it has begun', () => received.filter(({ type }) => type === 'data').length > 1);
    expect(received.find(({ type }) => type === 'data')).toMatchObject({
      payload: { data: { news: 'hello ann' } },
    });
    await app.app.get(SessionAuthService).signOut(token);

    expect(await closed).toEqual([4401, 'SESSION_REJECTED']);
  });
});
