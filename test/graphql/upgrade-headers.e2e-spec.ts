import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import { WebSocket } from 'ws';
import { compileProgram } from '../support/program.js';
import { platforms, startApp, type Platform } from '../support/platforms.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { transpile } from '../support/transpile.js';
import { postGraphql } from './graphql-client.js';
import { upgradeHeadersApp } from './upgrade-headers.app.js';

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

type Start = (baseUrl: string) => Promise<Server>;

interface Connection {
  readonly extra: { readonly request: { readonly headers: object } };
  readonly connectionParams?: object;
}

/** Uses that applications make of the fields that a client sends when it connects. */
const APOLLO: readonly (readonly [name: string, options: object])[] = [
  ['Apollo', { subscriptions: { 'graphql-ws': true } }],
  [
    'Apollo, whose application copies connectionParams to the headers',
    {
      subscriptions: {
        'graphql-ws': {
          onConnect: ({ extra, connectionParams }: Connection) =>
            void Object.assign(extra.request.headers, connectionParams),
        },
      },
    },
  ],
  [
    'Apollo, whose application makes a request of connectionParams',
    {
      subscriptions: { 'graphql-ws': true },
      context: ({ connectionParams }: Partial<Connection>) =>
        connectionParams ? { req: { headers: connectionParams } } : {},
    },
  ],
];

const startApollo =
  (platform: Platform, options: object): Start =>
  async (baseUrl) => {
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
      ...options,
    });
    return startApp(platform, upgradeHeadersApp(graphql, baseUrl));
  };

/** In a separate process: Jest can't load the dependencies of Mercurius. */
const startMercurius =
  (returned: string): Start =>
  async (baseUrl) => {
    const program = await compileProgram(join(import.meta.dirname, 'upgrade-headers.process.ts'));
    await transpile(
      join(import.meta.dirname, 'upgrade-headers.app.ts'),
      join(dirname(program.file), 'upgrade-headers.app.js'),
    );
    const child = fork(program.file, [returned, baseUrl]);
    const exit = once(child, 'exit');
    const ended = exit.then(() => Promise.reject(new Error('The server ended before it listened')));
    const [urls] = (await Promise.race([once(child, 'message'), ended])) as [string[]];
    const close = async (): Promise<void> => {
      child.kill('SIGKILL');
      await exit;
      await program.remove();
    };
    return { url: urls[0] ?? '', close };
  };

const SERVERS: readonly (readonly [name: string, start: Start])[] = [
  ...platforms('Fastify').flatMap(([name, platform]) =>
    APOLLO.map(([kind, options]): [string, Start] => [`${kind}, on ${name}`, startApollo(platform, options)]),
  ),
  ['Mercurius', startMercurius('nothing')],
  ['Mercurius, whose application returns the payload of connection_init', startMercurius('payload')],
];

interface Message {
  readonly type: string;
  readonly payload?:
    | { readonly data?: Record<string, string> | null; readonly errors?: unknown }
    | readonly unknown[];
}

const EVIL = 'https://evil.example';
const QUERY = 'query { who }';
const SUBSCRIPTION = 'subscription { news }';

describe.each(SERVERS)('headers of a socket on %s', (name, start) => {
  /** A client can break the context of its own operations, and gets an error of the server. */
  const isCareless = name.includes('whose application');
  let own: ScriptedService;
  let server: Server;

  beforeAll(async () => {
    own = await startScriptedService();
    server = await start(own.url);
    own.signInAs({ username: 'ann' }, 'good');
  });
  afterAll(async () => {
    await server.close();
    await own.close();
  });
  beforeEach(() => {
    own.requests.length = 0;
  });

  /**
   * Opens a socket, sends each text, and returns the messages until the first answer to an operation, or an
   * error, or the end of the socket.
   */
  async function exchange(headers: Record<string, string>, ...texts: string[]): Promise<string> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers,
    });
    const answers = once(socket, 'close').then(() => 'closed');
    const operations = texts.filter((text) => !text.includes('connection_init')).length;
    let answered = 0;
    const last = new Promise<string>((resolve) => {
      let next = 0;
      const send = (): void => socket.send(texts[next++] ?? '{"type":"ping"}');
      socket.once('open', send);
      socket.on('message', (text: Buffer) => {
        const { type, payload } = JSON.parse(text.toString()) as Message;
        if (type === 'connection_ack') send();
        if (type === 'error' && answered === operations) resolve('error');
        if (type !== 'next' && type !== 'error') return;
        answered += 1;
        if (answered === operations) resolve(resultOf(payload));
        else send();
      });
    });
    const result = await Promise.race([last, answers]);
    socket.terminate();
    return result;
  }

  function resultOf(payload: Message['payload']): string {
    const text = JSON.stringify(payload);
    const code =
      /"code":"([A-Z_]+)","message"|"code":"(SESSION_[A-Z]+|CROSS_ORIGIN_DENIED|ACCESS_DENIED)"/.exec(text);
    const { data } = (payload ?? {}) as { readonly data?: Record<string, string> | null };
    return code?.[1] ?? code?.[2] ?? Object.values(data ?? {})[0] ?? text;
  }

  const init = (payload: unknown): string => JSON.stringify({ type: 'connection_init', payload });
  const operation = (query: string, id = '1', more: object = {}): string =>
    JSON.stringify({ type: 'subscribe', id, payload: { query, ...more }, ...more });

  async function seenAfter(headers: Record<string, string>, payload: unknown, query: string) {
    await exchange(headers, init(payload), operation(query));
    const response = await postGraphql(server.url, { query: '{ seen }' });
    const { data } = (await response.json()) as { data: { seen: string } };
    return JSON.parse(data.seen) as Record<'source' | 'contextOfSource', Record<string, string>>;
  }

  const hostOf = (): string => new URL(server.url).host;

  const forgeries: (() => Record<string, unknown>)[] = [
    () => ({ 'sec-fetch-site': 'same-origin' }),
    () => ({ 'Sec-Fetch-Site': 'none', 'SEC-FETCH-SITE': 'same-origin' }),
    () => ({ host: 'evil.example', Host: 'evil.example', ':authority': 'evil.example' }),
    () => ({ origin: server.url, Origin: server.url }),
    () => ({ cookie: 'sid=good', origin: server.url }),
    () => ({ upgradeHeaders: {}, handshakeFields: { token: 'good' }, method: 'GET', rawHeaders: [] }),
    () => ({
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
      'x-forwarded-proto': 'https',
    }),
    () => ({
      request: { headers: { cookie: 'sid=good' } },
      req: { headers: { cookie: 'sid=good' }, method: 'GET' },
    }),
    () => ({ extra: { request: { headers: { cookie: 'sid=good', host: 'evil.example', origin: EVIL } } } }),
    () => ({
      reply: { request: { headers: { cookie: 'sid=good' }, raw: { rawHeaders: ['cookie', 'sid=good'] } } },
    }),
    () => ({
      _connectionInit: { cookie: 'sid=good' },
      connectionParams: { cookie: 'sid=good', origin: server.url },
    }),
    () => ({ constructor: 'x', prototype: 'x', toString: 'x', hasOwnProperty: 'x' }),
  ];

  it.each(forgeries.map((forgery, index) => [index, forgery] as const))(
    'are not those that a foreign page writes into its first message, plain or under headers: number %j [P24]',
    async (_index, forgery) => {
      const headers = { cookie: 'sid=good', origin: EVIL };
      for (const payload of [forgery(), { headers: forgery() }, { ...forgery(), headers: forgery() }]) {
        for (const query of [QUERY, SUBSCRIPTION]) {
          const extensions = { extensions: [{ type: 'connectionInit', payload }] };
          const results = [
            await exchange(headers, init(payload), operation(query)),
            await exchange(
              headers,
              init(payload),
              operation('subscription { open }'),
              init({}),
              operation(query, '2'),
            ),
            await exchange(headers, init({}), operation(query, '1', extensions)),
          ];
          expect(results).not.toContain('ann');
          if (!isCareless) expect(results[0]).toMatch(/^(?:CROSS_ORIGIN_DENIED|SESSION_REQUIRED|closed)$/);
        }
      }
      expect(own.requests).toEqual([]);
    },
  );

  it('have the cookie of the upgrade alone: a page may use it on its own origin, and a field presents none [P24]', async () => {
    for (const query of [QUERY, SUBSCRIPTION]) {
      expect(await exchange({ cookie: 'sid=good', origin: server.url }, init({}), operation(query))).toBe(
        'ann',
      );
      expect(
        await exchange({}, init({ cookie: 'sid=good', headers: { cookie: 'sid=good' } }), operation(query)),
      ).toMatch(/SESSION_REQUIRED|closed/);
    }
  });

  it('have a foreign Origin that __proto__ in a message does not outvote [P24]', async () => {
    for (const key of ['__proto__', '\\u005f_proto__']) {
      const payload = `{"type":"connection_init","payload":{"${key}":{"sec-fetch-site":"same-origin"},"headers":{"${key}":{"origin":"x"}}}}`;
      expect(await exchange({ cookie: 'sid=good', origin: EVIL }, payload, operation(SUBSCRIPTION))).not.toBe(
        'ann',
      );
    }
    expect(own.requests).toEqual([]);
  });

  it('are all that a source of the application sees, in its arguments and in the context [P24]', async () => {
    const payload = {
      'sec-fetch-site': 'same-origin',
      Origin: server.url,
      'x-of-a-proxy': 'ann',
      host: 'acme.example',
    };
    for (const query of [QUERY, SUBSCRIPTION]) {
      const received = { host: hostOf(), origin: EVIL, 'x-own': 'one' };
      const { source, contextOfSource } = await seenAfter(received, { ...payload, headers: payload }, query);
      for (const headers of [source, ...(name === 'Mercurius' ? [contextOfSource] : [])]) {
        expect(headers).toMatchObject(received);
        expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-of-a-proxy']));
        expect(headers['sec-fetch-site']).toBeUndefined();
        expect(headers.Origin).toBeUndefined();
      }
    }
  });

  it.each([
    [{ 'X-Auth-Token': 'good' }],
    [{ 'x-auth-token': 'good', authorization: 'Bearer bad' }],
    [{ token: 'good' }],
    [{ Authorization: 'Bearer good' }],
  ])('are joined by the token of a field, where a source looks for one: %j', async (payload) => {
    for (const query of [QUERY, SUBSCRIPTION])
      expect(await exchange({}, init(payload), operation(query))).toBe('ann');
  });

  it('present their own token, which no field replaces [P24]', async () => {
    for (const query of [QUERY, SUBSCRIPTION])
      expect(
        await exchange(
          { 'x-auth-token': 'bad' },
          init({ 'x-auth-token': 'good', token: 'good' }),
          operation(query),
        ),
      ).toBe('SESSION_REJECTED');
  });
});
