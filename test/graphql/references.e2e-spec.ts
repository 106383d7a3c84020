import { describe, expect, it } from '@jest/globals';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloFederationDriver, type ApolloFederationDriverConfig } from '@nestjs/apollo';
import { applyDecorators, Module, type Type, UseGuards } from '@nestjs/common';
import {
  createUnionType,
  Directive,
  Field,
  GraphQLModule,
  ID,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  ResolveReference,
  Resolver,
} from '@nestjs/graphql';
import {
  AuthToken,
  CurrentUser,
  fromHeader,
  OptionalAuth,
  SessionAuthGuard,
  SessionAuthModule,
  type UserRecord,
} from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { postGraphql, type GraphqlReply } from './graphql-client.js';

/** An object of each kind of reference: its resolver notes the user that it saw. */
@ObjectType({ isAbstract: true })
abstract class Entity {
  @Field(() => ID) id!: string;
  @Field() resolvedFor!: string;
}

@ObjectType()
@Directive('@key(fields: "id")')
class Desk extends Entity {}

@ObjectType()
@Directive('@key(fields: "id")')
class Clerk extends Entity {}

@ObjectType()
@Directive('@key(fields: "id")')
class Visitor extends Entity {}

@ObjectType()
@Directive('@key(fields: "id")')
class Poster extends Entity {}

/** Its references are admitted by a rule, or by no guard. */
function resolverOf(type: Type<Entity>, ...rule: MethodDecorator[]): Type {
  @Resolver(() => type)
  class EntityResolver {
    @ResolveReference()
    @applyDecorators(...rule)
    reference(
      @Parent() { id }: Entity,
      @CurrentUser() user?: UserRecord,
      @AuthToken() token?: string,
    ): Entity {
      return { id, resolvedFor: this.guest(user, token) };
    }

    @ResolveField(() => String)
    guest(@CurrentUser() user?: UserRecord, @AuthToken() token?: string): string {
      return `${user?.username ?? 'nobody'} ${token ?? 'nobody'}`;
    }
  }
  return EntityResolver;
}

const Thing = createUnionType({ name: 'Thing', types: () => [Desk, Clerk, Visitor, Poster] as const });

@Resolver()
class ThingsResolver {
  @Query(() => [Thing])
  things(): (typeof Thing)[] {
    return [];
  }
}

const ON = (['Desk', 'Clerk', 'Visitor', 'Poster'] as const)
  .map((type) => `... on ${type} { resolvedFor guest }`)
  .join(' ');
const TYPES = ['Clerk', 'Desk', 'Poster', 'Desk', 'Visitor', 'Clerk'];

describe.each(platforms('Fastify'))('references of one operation on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start(cache = true) {
    const [own, partners] = [await bed.service(), await bed.service()];
    own.signInAs({ username: 'ann' }, 'own-token');
    partners.signInAs({ username: 'bob' }, 'partner-token');
    @Module({})
    class Root {}
    @Module({})
    class Partners {}
    const options = { audit: 'off' as const, ...(cache && { cache: { ttlMs: 60_000 } }) };
    const root = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ baseUrl: own.url, apiKey: 'own-key', ...options }),
        {
          module: Partners,
          imports: [
            SessionAuthModule.forRoot({
              baseUrl: partners.url,
              apiKey: 'key',
              token: fromHeader('x-partner-token'),
              isGlobal: false,
            }),
          ],
          providers: [resolverOf(Desk, UseGuards(SessionAuthGuard))],
        },
        GraphQLModule.forRoot<ApolloFederationDriverConfig>({
          driver: ApolloFederationDriver,
          autoSchemaFile: { federation: 2 },
          graphiql: false,
          plugins: [ApolloServerPluginInlineTraceDisabled()],
          fieldResolverEnhancers: ['guards'],
        }),
      ],
      providers: [
        resolverOf(Clerk, UseGuards(SessionAuthGuard)),
        resolverOf(Visitor, OptionalAuth()),
        resolverOf(Poster),
        ThingsResolver,
      ],
    };
    return bed.app(root);
  }

  /** Asks for the references twice in one operation. */
  async function entities(app: RunningApp, types: readonly string[], token = 'own-token'): Promise<unknown> {
    const found = `_entities(representations: $of) { ${ON} }`;
    const query = `query ($of: [_Any!]!) { other: __typename found: ${found} again: ${found} }`;
    const of = types.map((type, id) => ({ __typename: type, id: String(id) }));
    const headers = { 'x-partner-token': 'partner-token' };
    const reply = await postGraphql(app.url, { query, variables: { of } }, token, headers);
    const { data, errors } = (await reply.json()) as GraphqlReply;
    if (errors) return errors;
    expect(data?.again).toEqual(data?.found);
    return data?.found;
  }

  const seenBy = (guest: string): unknown => ({ resolvedFor: guest, guest });
  const SEEN: Readonly<Record<string, unknown>> = {
    Desk: seenBy('bob partner-token'),
    Clerk: seenBy('ann own-token'),
    Visitor: seenBy('ann own-token'),
    Poster: seenBy('nobody nobody'),
  };

  it.each(['on', 'off'])(
    'each have the user and the token of their own admission, and so have the fields below them, with the cache %s [P44]',
    async (cache) => {
      const running = await start(cache === 'on');
      for (const types of [TYPES, TYPES.toReversed(), TYPES])
        expect(await entities(running, types)).toEqual(types.map((type) => SEEN[type]));
    },
  );

  it('have no user if their session is refused and optional, whichever references stand beside them [P44]', async () => {
    const running = await start();
    const types = ['Visitor', 'Desk', 'Visitor', 'Poster'];
    for (const token of ['own-token', 'refused', 'own-token'])
      expect(await entities(running, types, token)).toEqual(
        types.map((type) => (type === 'Visitor' && token === 'refused' ? SEEN.Poster : SEEN[type])),
      );
  });
});
