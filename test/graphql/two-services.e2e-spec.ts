import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { allOf, graphqlSocket, postGraphql, type GraphqlReply } from './graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

/** The order in which the rooms of an operation are asked for, and how many turns each waits. */
const ORDERS: readonly (readonly [office: number, partnerOffice: number, lobby: number])[] = [
  [0, 0, 0],
  [0, 9, 20],
  [20, 9, 0],
  [9, 20, 0],
  [9, 0, 20],
];
const ANN = 'ann own-token own-token';
const BOB = 'bob partner-token partner-token';
/** Answer of a field that has neither a user, nor a token, nor a session. */
const NO_USER = 'nobody nobody nobody';

describe.each(GRAPHQL_SERVERS)('fields without a guard and two session services on %s', (_name, start) => {
  let [own, partners]: ScriptedService[] = [];
  let server: GraphqlServer;

  beforeAll(async () => {
    [own, partners] = [await startScriptedService(), await startScriptedService()];
    own.signInAs({ username: 'ann' }, 'own-token');
    partners.signInAs({ username: 'bob' }, 'partner-token');
    server = await start(own.url, {
      options: { cache: { ttlMs: 60_000 }, audit: 'off' },
      partnersUrl: partners.url,
    });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all([own?.close(), partners?.close()]);
  });

  async function ask<Reply = GraphqlReply>(
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const own = { 'x-auth-token': 'own-token', 'x-partner-token': 'partner-token', ...headers };
    return (await (await postGraphql(server.url, body, undefined, own)).json()) as Reply;
  }

  /** Each three times: with the cache cold and warm, and compiled by Mercurius. */
  async function askAgain(query: string, headers?: Record<string, string>): Promise<unknown[]> {
    const replies: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { data, errors } = await ask({ query }, headers);
      replies.push(errors ?? data);
    }
    return replies;
  }
  const thrice = (data: unknown): unknown[] => [data, data, data];

  it('have the user of the nearest admitted field above them, whatever the order of the answers [P26]', async () => {
    for (const [office, partnerOffice, lobby] of ORDERS) {
      const below = '{ guest inner(after: 3) { guest rooms(after: 2) { guest } } }';
      const rooms = [
        `office(after: ${office}) ${below}`,
        `partnerOffice(after: ${partnerOffice}) ${below}`,
        `lobby(after: ${lobby}) ${below}`,
      ];
      const seenBelow = (guest: string): unknown => ({
        guest,
        inner: { guest, rooms: [{ guest }, { guest }] },
      });
      const seen = { office: seenBelow(ANN), partnerOffice: seenBelow(BOB), lobby: seenBelow(ANN) };
      expect(await askAgain(`{ ${rooms.join(' ')} }`)).toEqual(thrice(seen));
      expect(await askAgain(`{ ${rooms.reverse().join(' ')} }`)).toEqual(thrice(seen));
    }
  });

  it('have the user of a field in between that another session service admits [P26]', async () => {
    const query = `{ office { guest partnerRoom(after: 5) { guest inner { guest staffRoom(after: 3) { guest } } }
      staffRoom { guest } rooms { guest partnerRoom(after: 2) { guest } } } }`;
    expect(await askAgain(query)).toEqual(
      thrice({
        office: {
          guest: ANN,
          partnerRoom: { guest: BOB, inner: { guest: BOB, staffRoom: { guest: ANN } } },
          staffRoom: { guest: ANN },
          rooms: [
            { guest: ANN, partnerRoom: { guest: BOB } },
            { guest: ANN, partnerRoom: { guest: BOB } },
          ],
        },
      }),
    );
  });

  it('have no user below a field that is admitted without a session, or that no guard admits [P26]', async () => {
    for (const after of [0, 9]) {
      const query = `{ lobby(after: ${after}) { guest partnerRoom { guest } } partnerOffice { guest } hall(after: 9) { guest inner { guest } } }`;
      expect(await askAgain(query, { 'x-auth-token': 'refused' })).toEqual(
        thrice({
          lobby: { guest: NO_USER, partnerRoom: { guest: BOB } },
          partnerOffice: { guest: BOB },
          hall: { guest: NO_USER, inner: { guest: NO_USER } },
        }),
      );
    }
  });

  it('have no user of another alias of the same field, or of another operation of their batch [P26]', async () => {
    const query =
      '{ a: office { x: partnerRoom(after: 9) { guest } y: staffRoom { guest } } b: hall(after: 9) { guest } }';
    expect(await askAgain(query)).toEqual(
      thrice({ a: { x: { guest: BOB }, y: { guest: ANN } }, b: { guest: NO_USER } }),
    );

    const batch = [
      { query: '{ office { guest } }' },
      { query: '{ hall(after: 9) { guest } }' },
      { query: '{ hall: partnerOffice { guest } }' },
    ];
    const replies = await ask<GraphqlReply[]>(batch);
    expect(replies.map(({ data }) => data)).toEqual([
      { office: { guest: ANN } },
      { hall: { guest: NO_USER } },
      { hall: { guest: BOB } },
    ]);
  });

  it('of the events of a subscription have the user of a field above them in the event, and of no other one [P26]', async () => {
    const connectionParams = { 'x-auth-token': 'own-token', 'x-partner-token': 'partner-token' };
    const client = graphqlSocket(server.url, connectionParams);
    const query =
      'subscription { arrivals { guest staffRoom(after: 2) { guest } inner(after: 5) { guest } partnerRoom { guest } } }';
    const received = await allOf(client, query);
    await client.dispose();
    const arrivals = {
      guest: NO_USER,
      staffRoom: { guest: ANN },
      inner: { guest: NO_USER },
      partnerRoom: { guest: BOB },
    };
    expect(received).toEqual([{ arrivals }, { arrivals }]);
  });
});
