import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import type { Client } from 'graphql-ws';
import { UseGuards, type DynamicModule } from '@nestjs/common';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql';
import { CurrentUser, fromCookie, Public, SessionAuthGuard } from 'nestjs-session-auth';
import {
  sessionSockets,
  SessionSockets,
  type SocketClient,
  type SocketConnection,
  type SocketUpgrade,
} from 'nestjs-session-auth/sockets';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { allOf, graphqlSocket, postGraphql } from './graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

describe.each(GRAPHQL_SERVERS)('subscriptions on %s', (_name, start) => {
  const clients: Client[] = [];
  let service: ScriptedService;
  let server: GraphqlServer;

  beforeAll(async () => {
    service = await startScriptedService();
    server = await start(service.url);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });
  afterAll(async () => {
    await server.close();
    await service.close();
  });
  beforeEach(() => {
    service.requests.length = 0;
  });

  function connect(connectionParams: Record<string, unknown>): Client {
    const client = graphqlSocket(server.url, connectionParams);
    clients.push(client);
    return client;
  }

  const ticksOf = (name: string): unknown[] => [1, 2, 3].map((tick) => ({ ticks: `${name} ${tick}` }));

  it.each([
    ['none', {}, { statusCode: 401, code: 'SESSION_REQUIRED' }],
    ['a refused one', { token: 'bad' }, { statusCode: 401, code: 'SESSION_REJECTED' }],
    [
      'two',
      { 'x-auth-token': 'good', 'X-AUTH-TOKEN': 'good' },
      { statusCode: 401, code: 'SESSION_REJECTED' },
    ],
    [
      'a value that is no string',
      { token: { toString: 'good' } },
      { statusCode: 401, code: 'SESSION_REJECTED' },
    ],
  ])('do not start for a caller that presents %s', async (_case, params, originalError) => {
    service.signInAs({}, 'good');
    expect(await allOf(connect(params), 'subscription { ticks }')).toMatchObject([
      [{ extensions: { code: 'UNAUTHENTICATED', originalError } }],
    ]);
  });

  it.each(['subscription { ticks }', '{ me }'])('check each operation of a socket: %s', async (query) => {
    service.signInAs({}, 'brief');
    const client = connect({ token: 'brief' });
    expect(await allOf(client, 'subscription { ticks }')).toEqual(ticksOf('ann'));
    service.revoke('brief');

    expect(await allOf(client, query)).toMatchObject([[{ extensions: { code: 'UNAUTHENTICATED' } }]]);
  });

  it('share the socket with queries, which make one check each', async () => {
    const client = connect({ token: service.signInAs({}, 'good') });
    const [reply] = (await allOf(client, '{ openings(count: 50) { owner } }')) as { openings: unknown[] }[];

    expect(reply?.openings[49]).toEqual({ owner: 'ann 49' });
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('keep the users of many sockets apart', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `user-${index}`);
    const received = names.map((username) =>
      allOf(connect({ token: service.signInAs({ username }, username) }), 'subscription { ticks }'),
    );

    expect(await Promise.all(received)).toEqual(names.map(ticksOf));
  });
});

@Resolver()
@UseGuards(SessionAuthGuard)
class NewsResolver {
  @Query(() => String)
  @Public()
  name(): string {
    return 'news';
  }

  @Query(() => String)
  mine(@CurrentUser('username') username = ''): string {
    return username;
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username = ''): AsyncGenerator<{ news: string }> {
    yield { news: `hello ${username}` };
    await new Promise(() => undefined);
  }
}

interface Connection {
  readonly connectionParams?: { readonly token?: string };
  readonly extra: { readonly socket: SocketClient; readonly request: IncomingMessage };
}

/** As the documentation shows it. */
const graphql = (
  upgradeOf: (connection: Connection) => SocketUpgrade | SocketConnection = (connection) => connection,
) =>
  GraphQLModule.forRootAsync<ApolloDriverConfig>({
    driver: ApolloDriver,
    inject: [SessionSockets],
    useFactory: (sockets: SessionSockets) => ({
      autoSchemaFile: true,
      subscriptions: {
        'graphql-ws': {
          onConnect: async (context: unknown) => {
            const connection = context as Connection;
            await sockets.watch(connection.extra.socket, upgradeOf(connection));
          },
        },
      },
    }),
  });

const EVIL = 'https://evil.example';

describe.each(platforms('Fastify'))(
  'a cookie that a page of another origin makes the browser send, on %s',
  (_name, platform) => {
    const bed = testbed(platform);
    const token = fromCookie('sid');

    async function start(imports: DynamicModule[]) {
      const service = await bed.service();
      service.signInAs({}, 'good');
      const app = await bed.sample({
        baseUrl: service.url,
        options: { token, plugins: [sessionSockets] },
        imports,
        controllers: [],
        providers: [NewsResolver],
      });
      return { service, app };
    }

    /** Its fields look like headers, as those of a page may. */
    function connect(url: string, origin: string, setup: object = {}): Client {
      const fields = { origin: url, host: new URL(url).host, 'sec-fetch-site': 'same-origin' };
      return graphqlSocket(url, fields, { headers: { cookie: 'sid=good', origin }, lazy: true, ...setup });
    }

    it('is denied in a query over POST and in a subscription, and admitted in a query over GET, which changes nothing', async () => {
      const options = {
        driver: ApolloDriver,
        autoSchemaFile: true,
        subscriptions: { 'graphql-ws': true },
      } as const;
      const { service, app } = await start([GraphQLModule.forRoot<ApolloDriverConfig>(options)]);
      const headers = { cookie: 'sid=good', origin: EVIL, 'content-type': 'application/json' };
      const post = await postGraphql(app.url, { query: '{ mine }' }, undefined, headers);
      const denied = {
        errors: [
          {
            extensions: {
              code: 'FORBIDDEN',
              originalError: { statusCode: 403, code: 'CROSS_ORIGIN_DENIED' },
            },
          },
        ],
      };
      expect(await post.json()).toMatchObject(denied);
      const client = connect(app.url, EVIL);
      for await (const result of client.iterate({ query: 'subscription { news }' }))
        expect(result).toMatchObject(denied);
      await client.dispose();
      expect(service.callsTo('user_details')).toBe(0);

      expect(await (await fetch(`${app.url}/graphql?query=%7Bmine%7D`, { headers })).json()).toEqual({
        data: { mine: 'ann' },
      });
      const own = connect(app.url, app.url);
      const first = await own.iterate({ query: 'subscription { news }' }).next();
      expect(first).toMatchObject({ value: { data: { news: 'hello ann' } } });
      await own.dispose();
    });

    it.each<[string, (connection: Connection) => SocketUpgrade | SocketConnection]>([
      ['its request', ({ extra }) => extra.request],
      ['its connection', (connection) => connection],
    ])(
      'closes a socket with 4403 that is watched with %s, and calls no service [P24]',
      async (_with, upgradeOf) => {
        const { app, service } = await start([graphql(upgradeOf)]);
        let closed: unknown;
        const client = connect(app.url, EVIL, { closed: (event: unknown) => (closed = event) });
        await client
          .iterate({ query: 'subscription { news }' })
          .next()
          .catch(() => undefined);

        await until('the end of the socket', () => closed !== undefined);
        expect(closed).toMatchObject({ code: 4403, reason: 'CROSS_ORIGIN_DENIED' });
        expect(service.callsTo('user_details')).toBe(0);
      },
    );
  },
);
