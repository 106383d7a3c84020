import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { allOf, graphqlSocket, postGraphql, type GraphqlReply } from './graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

/** How many turns the rooms of an operation wait: the order of the answers. */
const ORDERS = [
  [0, 9, 20],
  [20, 9, 0],
] as const;
const TOKENS = { 'x-auth-token': 'own-token', 'x-partner-token': 'partner-token' };
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
    const reply = await postGraphql(server.url, body, undefined, { ...TOKENS, ...headers });
    return (await reply.json()) as Reply;
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
    const below = `{ guest inner(after: 3) { guest } rooms(after: 2) { guest partnerRoom(after: 5) { guest staffRoom { guest } } } }`;
    const seenBelow = (guest: string): unknown => {
      const room = { guest, partnerRoom: { guest: BOB, staffRoom: { guest: ANN } } };
      return { guest, inner: { guest }, rooms: [room, room] };
    };
    for (const [office, partnerOffice, lobby] of ORDERS) {
      const rooms = `office(after: ${office}) ${below} again: partnerOffice(after: ${partnerOffice}) ${below} lobby(after: ${lobby}) ${below}`;
      expect(await askAgain(`{ ${rooms} hall(after: 9) { guest } }`)).toEqual(
        thrice({
          office: seenBelow(ANN),
          again: seenBelow(BOB),
          lobby: seenBelow(ANN),
          hall: { guest: NO_USER },
        }),
      );
    }
  });

  it('have no user below a field that is admitted without a session, or that no guard admits, and none of another operation of their batch [P26]', async () => {
    const query = `{ lobby { guest partnerRoom { guest } } partnerOffice { guest } hall(after: 9) { guest inner { guest } } }`;
    expect(await askAgain(query, { 'x-auth-token': 'refused' })).toEqual(
      thrice({
        lobby: { guest: NO_USER, partnerRoom: { guest: BOB } },
        partnerOffice: { guest: BOB },
        hall: { guest: NO_USER, inner: { guest: NO_USER } },
      }),
    );
    const names = ['office', 'hall(after: 9)', 'hall: partnerOffice'];
    const replies = await ask<GraphqlReply[]>(names.map((name) => ({ query: `{ ${name} { guest } }` })));
    expect(replies.map(({ data }) => data)).toEqual([
      { office: { guest: ANN } },
      { hall: { guest: NO_USER } },
      { hall: { guest: BOB } },
    ]);
  });

  it('of the events of a subscription have the user of a field above them in the event, and of no other one [P26]', async () => {
    const client = graphqlSocket(server.url, TOKENS);
    const query = 'subscription { arrivals { guest staffRoom(after: 2) { guest } partnerRoom { guest } } }';
    const received = await allOf(client, query);
    await client.dispose();
    const arrivals = { guest: NO_USER, staffRoom: { guest: ANN }, partnerRoom: { guest: BOB } };
    expect(received).toEqual([{ arrivals }, { arrivals }]);
  });
});
