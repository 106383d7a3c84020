import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module, type Type } from '@nestjs/common';
import { Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import {
  CurrentUser,
  fromHeader,
  OptionalAuth,
  SessionAuthModule,
  SessionAuthority,
  type AuthorityResolver,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { allOf, graphqlSocket, postGraphql, type GraphqlReply } from './graphql-client.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';

@ObjectType()
class Desk {
  @Field() name!: string;
}

@Resolver()
class StaffResolver {
  @Query(() => String)
  @SessionAuthority('default')
  staff(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }

  @Query(() => String)
  @OptionalAuth()
  selected(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }
}

@Resolver(() => Desk)
@SessionAuthority('partners')
class DeskResolver {
  @Query(() => Desk)
  desk(): Desk {
    return { name: 'desk' };
  }

  @ResolveField(() => String)
  partner(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }

  @ResolveField(() => String)
  @SessionAuthority('default')
  clerk(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }
}

@Module({})
class Root {}

const byTenant: AuthorityResolver = (_context, { headers }) => String(headers['x-tenant'] ?? 'default');

describe.each(platforms('Express'))(
  'fields of GraphQL and several session services on %s',
  (_name, platform) => {
    const bed = testbed(platform);

    async function started(): Promise<{ app: RunningApp; own: ScriptedService; partners: ScriptedService }> {
      const [own, partners] = [await bed.service(), await bed.service()];
      const providers: Type[] = [StaffResolver, DeskResolver];
      const root = {
        module: Root,
        imports: [
          SessionAuthModule.forRoot({ baseUrl: own.url, apiKey: 'own-key', authority: byTenant }),
          SessionAuthModule.forRoot({
            name: 'partners',
            baseUrl: partners.url,
            apiKey: 'key',
            token: fromHeader('x-partner-token'),
          }),
          GraphQLModule.forRoot<ApolloDriverConfig>({
            driver: ApolloDriver,
            autoSchemaFile: true,
            graphiql: false,
            fieldResolverEnhancers: ['guards'],
          }),
        ],
        providers,
      };
      return { app: await bed.app(root), own, partners };
    }

    async function query(app: RunningApp, text: string, headers: Record<string, string>): Promise<unknown> {
      const reply = await postGraphql(app.url, { query: text }, undefined, headers);
      const { data, errors } = (await reply.json()) as GraphqlReply;
      return errors ? errors.map(({ extensions }) => extensions.code) : data;
    }

    it('of one operation are each checked by the one that they name, and have its user', async () => {
      const { app, own, partners } = await started();
      const headers = {
        'x-auth-token': own.signInAs({ username: 'ann' }),
        'x-partner-token': partners.signInAs({ username: 'bob' }),
      };

      expect(await query(app, '{ staff desk { name partner clerk } }', headers)).toEqual({
        staff: 'ann',
        desk: { name: 'desk', partner: 'bob', clerk: 'ann' },
      });
      for (const { headers: seen } of own.requests)
        expect(seen['x-auth-token']).toBe(headers['x-auth-token']);
      for (const { headers: seen } of partners.requests)
        expect(seen['x-auth-token']).toBe(headers['x-partner-token']);
    });

    it('are denied with a session of another', async () => {
      const { app, own, partners } = await started();

      const [ann, bob] = [own.signInAs({}), partners.signInAs({})];
      expect(await always(() => query(app, '{ desk { name } }', { 'x-partner-token': ann }))).toEqual([
        'UNAUTHENTICATED',
      ]);
      expect(await always(() => query(app, '{ staff }', { 'x-auth-token': bob }))).toEqual([
        'UNAUTHENTICATED',
      ]);
    });

    it('are checked by the one that the option authority selects, also if the session is optional', async () => {
      const { app, partners } = await started();
      const headers = { 'x-partner-token': partners.signInAs({ username: 'bob' }) };

      expect(await query(app, '{ selected }', { ...headers, 'x-tenant': 'partners' })).toEqual({
        selected: 'bob',
      });
      expect(await query(app, '{ selected }', headers)).toEqual({ selected: 'undefined' });
      expect(await always(() => query(app, '{ selected }', { ...headers, 'x-tenant': 'unknown' }))).toEqual([
        'UNAUTHENTICATED',
      ]);
    });
  },
);

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
const NOBODY = 'nobody nobody nobody';

describe.each(GRAPHQL_SERVERS)(
  'fields without a guard and several session services on %s',
  (_name, start) => {
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
            lobby: { guest: NOBODY, partnerRoom: { guest: BOB } },
            partnerOffice: { guest: BOB },
            hall: { guest: NOBODY, inner: { guest: NOBODY } },
          }),
        );
      }
    });

    it('have no user of another alias of the same field, or of another operation of their batch [P26]', async () => {
      const query =
        '{ a: office { x: partnerRoom(after: 9) { guest } y: staffRoom { guest } } b: hall(after: 9) { guest } }';
      expect(await askAgain(query)).toEqual(
        thrice({ a: { x: { guest: BOB }, y: { guest: ANN } }, b: { guest: NOBODY } }),
      );

      const batch = [
        { query: '{ office { guest } }' },
        { query: '{ hall(after: 9) { guest } }' },
        { query: '{ hall: partnerOffice { guest } }' },
      ];
      const replies = await ask<GraphqlReply[]>(batch);
      expect(replies.map(({ data }) => data)).toEqual([
        { office: { guest: ANN } },
        { hall: { guest: NOBODY } },
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
        guest: NOBODY,
        staffRoom: { guest: ANN },
        inner: { guest: NOBODY },
        partnerRoom: { guest: BOB },
      };
      expect(received).toEqual([{ arrivals }, { arrivals }]);
    });
  },
);
