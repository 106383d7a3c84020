import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from 'graphql-ws';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { allOf, graphqlSocket } from './graphql-client.js';
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
    ['none', {}, 'SESSION_REQUIRED'],
    ['a refused one', { token: 'bad' }, 'SESSION_REJECTED'],
    ['two', { 'x-auth-token': 'good', 'X-AUTH-TOKEN': 'good' }, 'SESSION_REJECTED'],
  ])('do not start for a caller that presents %s', async (_case, params, code) => {
    service.signInAs({}, 'good');
    expect(await allOf(connect(params), 'subscription { ticks }')).toMatchObject([
      [{ extensions: { code: 'UNAUTHENTICATED', originalError: { statusCode: 401, code } } }],
    ]);
  });

  it.each(['subscription { ticks }', '{ me }'])('check each operation of a socket: %s', async (query) => {
    service.signInAs({}, 'brief');
    const client = connect({ token: 'brief' });
    expect(await allOf(client, 'subscription { ticks }')).toEqual(ticksOf('ann'));
    service.revoke('brief');

    expect(await allOf(client, query)).toMatchObject([[{ extensions: { code: 'UNAUTHENTICATED' } }]]);
  });

  it('keep the users of many sockets apart', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `user-${index}`);
    const received = names.map((username) =>
      allOf(connect({ token: service.signInAs({ username }, username) }), 'subscription { ticks }'),
    );

    expect(await Promise.all(received)).toEqual(names.map(ticksOf));
  });
});
