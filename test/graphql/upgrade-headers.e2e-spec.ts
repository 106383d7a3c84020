import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

interface Message {
  readonly type: string;
  readonly payload?:
    | { readonly data?: Record<string, string> | null; readonly errors?: unknown }
    | readonly unknown[];
}

const EVIL = 'https://evil.example';
const SENT = { headers: { cookie: 'sid=good', host: 'evil.example' }, method: 'GET' };
const OPERATIONS = ['{ me }', 'subscription { ticks }'];

/** Applications without and with code that makes headers of the fields of a client. */
const SERVERS = GRAPHQL_SERVERS.flatMap(([name, start]) =>
  (name.startsWith('Apollo') ? [false, true] : [false]).map(
    (copiesParams) =>
      [
        `${name}${copiesParams ? ', whose application copies connectionParams to the headers' : ''}`,
        (baseUrl: string) => start(baseUrl, { hasCookie: true, copiesParams }),
      ] as const,
  ),
);

describe.each(SERVERS)('headers of a socket on %s', (name, start) => {
  /** A client can break its own operations, and gets an error of the server. */
  const isCareless = name.includes('whose application');
  let own: ScriptedService;
  let server: GraphqlServer;

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
    socket.close();
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

  const forgeries: (() => Record<string, unknown>)[] = [
    () => ({ 'Sec-Fetch-Site': 'none', 'SEC-FETCH-SITE': 'same-origin' }),
    () => ({ host: 'evil.example', Host: 'evil.example', origin: server.url, cookie: 'sid=good' }),
    () => ({ upgradeHeaders: {}, handshakeFields: { token: 'good' }, method: 'GET', rawHeaders: [] }),
    () => ({ 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example', ...SENT }),
    () => ({
      req: SENT,
      request: SENT,
      reply: { request: { ...SENT, raw: { rawHeaders: ['cookie', 'sid=good'] } } },
    }),
    () => ({ extra: { request: SENT }, _connectionInit: SENT.headers, connectionParams: SENT.headers }),
  ];

  it.each(forgeries.map((forgery, index) => [index, forgery] as const))(
    'are not those that a foreign page writes into its first message, plain or under headers: number %j [P24]',
    async (_index, forgery) => {
      const headers = { cookie: 'sid=good', origin: EVIL };
      const payload = { ...forgery(), headers: forgery() };
      for (const query of OPERATIONS) {
        const extensions = { extensions: [{ type: 'connectionInit', payload }] };
        const later = [operation('{ resolved }'), init({}), operation(query, '2')];
        const results = [
          await exchange(headers, init(payload), operation(query)),
          await exchange(headers, init(payload), ...later),
          await exchange(headers, init({}), operation(query, '1', extensions)),
        ];
        expect(results.filter((result) => result.startsWith('ann'))).toEqual([]);
        if (!isCareless) expect(results[0]).toMatch(/^(?:CROSS_ORIGIN_DENIED|SESSION_REQUIRED|closed)$/);
      }
      expect(own.requests).toEqual([]);
    },
  );

  it('have the cookie of the upgrade alone: a page may use it on its own origin, and a field presents none [P24]', async () => {
    const [headers, sent] = [{ cookie: 'sid=good', origin: server.url }, { cookie: 'sid=good' }];
    for (const query of OPERATIONS) {
      expect(await exchange(headers, init({}), operation(query))).toMatch(/^ann/);
      const denied = await exchange({}, init({ ...sent, headers: sent }), operation(query));
      expect(denied).toMatch(/SESSION_REQUIRED|closed/);
    }
  });

  it.each([{ 'X-Auth-Token': 'good' }, { token: 'good' }, { Authorization: 'Bearer good' }])(
    'are joined by the token of a field, where a source looks for one, which replaces none of them: %j [P24]',
    async (payload) => {
      for (const query of OPERATIONS) {
        expect(await exchange({}, init(payload), operation(query))).toMatch(/^ann/);
        const own = { 'x-auth-token': 'bad' };
        expect(await exchange(own, init(payload), operation(query))).toBe('SESSION_REJECTED');
      }
    },
  );
});
