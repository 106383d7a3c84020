import { describe, expect, it } from '@jest/globals';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { ApolloFederationDriver, type ApolloFederationDriverConfig } from '@nestjs/apollo';
import {
  applyDecorators,
  Module,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
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
  SessionAuthService,
  type UserRecord,
} from 'nestjs-session-auth';
import { currentUserOf } from 'nestjs-session-auth/diagnostics';
import type { Observable } from 'rxjs';
import { platforms, type RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
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

/** Keeps what `currentUserOf` returns, where Nest runs interceptors on references. */
class SeeingInterceptor implements NestInterceptor {
  static readonly users = new Map<object, string>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    SeeingInterceptor.users.set(context.getArgByIndex(0), currentUserOf(context)?.username ?? 'nobody');
    return next.handle();
  }
}

type Reference = Readonly<Record<'id', string>>;

/** Its references are admitted by a rule, or by no guard. */
function resolverOf(type: Type<Entity>, ...rule: MethodDecorator[]): Type {
  @Resolver(() => type)
  @UseInterceptors(SeeingInterceptor)
  class EntityResolver {
    @ResolveReference()
    @applyDecorators(...rule)
    reference(
      @Parent() reference: Reference,
      @CurrentUser() user?: UserRecord,
      @AuthToken() token?: string,
    ): Entity {
      const own = this.guest(user, token);
      const inContext = SeeingInterceptor.users.get(reference);
      return { id: reference.id, resolvedFor: `${own} ${inContext ?? user?.username ?? 'nobody'}` };
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
const ORDERS = [
  ['Desk', 'Clerk', 'Visitor', 'Poster'],
  ['Poster', 'Visitor', 'Clerk', 'Desk'],
  ['Clerk', 'Desk', 'Poster', 'Desk', 'Visitor', 'Clerk'],
];

describe.each(platforms('Fastify'))('references of one operation on %s', (_name, platform) => {
  const bed = testbed(platform);

  interface Running {
    readonly app: RunningApp;
    readonly own: ScriptedService;
  }

  async function start(
    fieldResolverEnhancers: ('guards' | 'interceptors')[],
    cache = true,
  ): Promise<Running> {
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
          fieldResolverEnhancers,
        }),
      ],
      providers: [
        resolverOf(Clerk, UseGuards(SessionAuthGuard)),
        { provide: 'staff', useExisting: SessionAuthService },
        resolverOf(Visitor, OptionalAuth()),
        resolverOf(Poster),
        ThingsResolver,
      ],
    };
    return { app: await bed.app(root), own };
  }

  async function entities({ app }: Running, types: readonly string[], token = 'own-token'): Promise<unknown> {
    const query = `query ($of: [_Any!]!) { other: __typename found: _entities(representations: $of) { ${ON} } }`;
    const of = types.map((type, id) => ({ __typename: type, id: String(id) }));
    const headers = { 'x-partner-token': 'partner-token' };
    const { data, errors } = (await (
      await postGraphql(app.url, { query, variables: { of } }, token, headers)
    ).json()) as GraphqlReply;
    return errors ?? data?.found;
  }

  const seenBy = (user: string, token: string): unknown => ({
    resolvedFor: `${user} ${token} ${user}`,
    guest: `${user} ${token}`,
  });
  const SEEN: Readonly<Record<string, unknown>> = {
    Desk: seenBy('bob', 'partner-token'),
    Clerk: seenBy('ann', 'own-token'),
    Visitor: seenBy('ann', 'own-token'),
    Poster: seenBy('nobody', 'nobody'),
  };

  it.each([[['guards' as const]], [['guards' as const, 'interceptors' as const]]])(
    'each have the user and the token of their own admission, and so have the fields below them, with %j [P44]',
    async (enhancers) => {
      const running = await start(enhancers);
      for (const types of [...ORDERS, ...ORDERS])
        expect(await entities(running, types)).toEqual(types.map((type) => SEEN[type]));
    },
  );

  it('have their users also if an operation asks for them twice, without a cache [P44]', async () => {
    const { app } = await start(['guards'], false);
    const query = `query ($of: [_Any!]!) { a: _entities(representations: $of) { ${ON} } b: _entities(representations: $of) { ${ON} } }`;
    const of = ['Desk', 'Clerk', 'Visitor', 'Poster'].map((type, id) => ({
      __typename: type,
      id: String(id),
    }));
    const reply = await postGraphql(app.url, { query, variables: { of } }, 'own-token', {
      'x-partner-token': 'partner-token',
    });
    const seen = of.map((each) => SEEN[each.__typename]);
    expect(await reply.json()).toEqual({ data: { a: seen, b: seen } });
  });

  it('have no user if their session is refused and optional, whichever references stand beside them [P44]', async () => {
    const running = await start(['guards', 'interceptors']);
    const types = ['Visitor', 'Desk', 'Visitor', 'Poster'];
    for (const token of ['own-token', 'refused', 'own-token'])
      expect(await entities(running, types, token)).toEqual(
        types.map((type) => (type === 'Visitor' && token === 'refused' ? SEEN.Poster : SEEN[type])),
      );
    await running.app.app.get<SessionAuthService>('staff').signOut('own-token');
    running.own.revoke('own-token');
    expect(await entities(running, types)).toEqual(
      types.map((type) => (type === 'Visitor' ? SEEN.Poster : SEEN[type])),
    );
  });
});
