import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
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

  /** A client that presents something when it connects. */
  function connect(connectionParams: Record<string, unknown>, headers: Record<string, string> = {}): Client {
    class Socket extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { headers });
      }
    }
    const url = `${server.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: Socket, connectionParams, retryAttempts: 0, lazy: false });
    clients.push(client);
    return client;
  }

  /** Everything that comes of an operation, an error among it. */
  async function all(client: Client, query: string): Promise<unknown[]> {
    const received: unknown[] = [];
    try {
      for await (const { data, errors } of client.iterate({ query })) received.push(errors ?? data);
    } catch (errors) {
      received.push(errors);
    }
    return received;
  }

  const ticksOf = (name: string): unknown[] => [1, 2, 3].map((tick) => ({ ticks: `${name} ${tick}` }));

  it.each([
    ['as a field of connectionParams with the name of the header', { 'X-Auth-Token': 'good' }, {}],
    ['as the token in connectionParams', { token: 'good' }, {}],
    ['in a header of the request that opens the socket', {}, { 'x-auth-token': 'good' }],
  ])('take the token %s', async (_place, params, headers) => {
    service.signInAs({}, 'good');
    expect(await all(connect(params, headers), 'subscription { ticks }')).toEqual(ticksOf('ann'));
  });

  it.each([
    ['none', {}, { statusCode: 401, code: 'SESSION_REQUIRED' }],
    ['a refused one', { token: 'bad' }, { statusCode: 401, code: 'SESSION_REJECTED' }],
    ['two', { 'x-auth-token': 'good', 'X-AUTH-TOKEN': 'good' }, { statusCode: 401, code: 'SESSION_REJECTED' }],
    ['something that is no text', { token: { toString: 'good' } }, { statusCode: 401, code: 'SESSION_REJECTED' }],
  ])('start for nobody who presents %s', async (_case, params, originalError) => {
    service.signInAs({}, 'good');
    expect(await all(connect(params), 'subscription { ticks }')).toMatchObject([
      [{ extensions: { code: 'UNAUTHENTICATED', originalError } }],
    ]);
  });

  it('check each operation anew, however long the socket lives', async () => {
    service.signInAs({}, 'brief');
    const client = connect({ token: 'brief' });
    expect(await all(client, 'subscription { ticks }')).toEqual(ticksOf('ann'));
    service.revoke('brief');

    for (const query of ['subscription { ticks }', '{ me }']) {
      expect(await all(client, query)).toMatchObject([[{ extensions: { code: 'UNAUTHENTICATED' } }]]);
    }
  });

  it('share the socket with queries, which make one check each', async () => {
    const client = connect({ token: service.signInAs({}, 'good') });
    const [reply] = (await all(client, '{ openings(count: 50) { owner } }')) as { openings: unknown[] }[];

    expect(reply?.openings[49]).toEqual({ owner: 'ann 49' });
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('keep the users of many sockets apart', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `user-${index}`);
    const received = names.map((username) => all(connect({ token: service.signInAs({ username }, username) }), 'subscription { ticks }'));

    expect(await Promise.all(received)).toEqual(names.map(ticksOf));
  });
});
