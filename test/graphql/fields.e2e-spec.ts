import { afterAll, beforeAll, beforeEach, describe, expect, afterEach, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import { Args, Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import {
  AuthToken,
  CurrentUser,
  OptionalAuth,
  SessionAuthGuard,
  SessionAuthService,
  type TokenSource,
} from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { NEST_MAJOR } from '../support/nest-major.js';
import { sendRaw } from '../support/raw-request.js';
import {
  hold,
  json,
  startScriptedService,
  reply,
  type ScriptedService,
} from '../support/scripted-service.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { HoldingInterceptor } from '../sockets/feed.gateway.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';
import type { ContextKind } from './graphql-context-kinds.js';
import { postGraphql, type GraphqlReply } from './graphql-client.js';

/** Those with an identity for each request, and those without: there only the first caller may be served. */
const SERVED: readonly ContextKind[] = ['object', 'one object', 'one object, later', 'new objects'];
const NOT_SERVED: readonly ContextKind[] = ['the first request', 'an instance'];
const KINDS = [...SERVED, ...NOT_SERVED];
const UNAUTHENTICATED = 'UNAUTHENTICATED';

describe.each(GRAPHQL_SERVERS)('contexts of GraphQL on %s', (name, start) => {
  let service: ScriptedService;
  let server: GraphqlServer;
  beforeAll(async () => {
    service = await startScriptedService();
    server = await start(service.url, { contexts: [...KINDS, ...KINDS, 'default'] });
  });
  afterAll(async () => {
    await server.close();
    await service.close();
  });
  beforeEach(() => {
    service.on('user_details', ({ headers: { 'x-auth-token': token } }, response) => {
      const known = token === 'ann' || token === 'bob';
      response
        .writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
        .end(known ? JSON.stringify({ username: token }) : '');
    });
  });

  /** The applications with contexts of these kinds; each round has applications that no other uses. */
  const appsWith = (kinds: readonly ContextKind[], round: 0 | 1): [ContextKind, string][] =>
    kinds.map((kind) => [kind, server.urls[round * KINDS.length + KINDS.indexOf(kind)] ?? '']);

  async function ask(url: string, query: string, token?: string): Promise<unknown> {
    const { data, errors } = (await (await postGraphql(url, { query }, token)).json()) as GraphqlReply;
    return errors?.[0] ? (errors[0].extensions.code ?? errors) : data;
  }

  const me = (username: string): unknown => ({ me: `${username} ${username}` });

  it('each caller gets its own user, whether requests share a context or not [P08]', async () => {
    for (const [context, url] of appsWith(SERVED, 0)) {
      await ask(url, '{ resolved }', 'ann');
      expect([context, await ask(url, '{ me }')]).toEqual([context, UNAUTHENTICATED]);
      expect([context, await ask(url, '{ me }', 'bob')]).toEqual([context, me('bob')]);
      expect([context, await ask(url, '{ me }', 'ann')]).toEqual([context, me('ann')]);
    }
  });

  it('a context that names another request, or that cannot be copied, serves no caller as another one [P08]', async () => {
    for (const [context, url] of appsWith(NOT_SERVED, 0)) {
      expect([context, await ask(url, '{ me }', 'ann')]).toEqual([context, me('ann')]);
      for (const [token, own] of [
        [undefined, UNAUTHENTICATED],
        ['bob', me('bob')],
      ] as const) {
        expect([context, [UNAUTHENTICATED, own]]).toEqual([
          context,
          expect.arrayContaining([await ask(url, '{ me }', token)]),
        ]);
      }
    }
  });

  it('concurrent callers, and a caller whose request has no guard, lend their sessions to no other caller [P08]', async () => {
    for (const [context, url] of appsWith(KINDS, 1)) {
      const held = hold(json({ username: 'ann' }));
      service.on('user_details', held.script);
      const first = ask(url, '{ me }', 'ann');
      await held.arrived;
      const strangers = await Promise.all([ask(url, '{ me }'), ask(url, '{ openings(count: 2) { owner } }')]);
      held.release();

      expect([context, strangers]).toEqual([context, [UNAUTHENTICATED, UNAUTHENTICATED]]);
      expect([me('ann'), UNAUTHENTICATED]).toContainEqual(await first);
    }
  });

  it('a bare Upgrade header changes nothing: user, Vary, no-store and one check [P16]', async () => {
    const url = server.urls.at(-1) ?? '';
    const upgrades = [[], ['Upgrade: websocket'], ['Upgrade: WebSocket'], ['Upgrade: h2c']];
    for (const upgrade of upgrades) {
      service.requests.length = 0;
      const { status, headers, body } = await sendRaw(url, {
        method: 'POST',
        path: '/graphql',
        lines: ['X-Auth-Token: bob', ...upgrade],
        body: JSON.stringify({ query: '{ me openings(count: 20) { owner } }' }),
      });

      expect([upgrade, status, (JSON.parse(body) as GraphqlReply).data?.me]).toEqual([
        upgrade,
        200,
        'bob bob',
      ]);
      expect(headers.get('vary')?.toLowerCase()).toContain('x-auth-token');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(service.callsTo('user_details')).toBe(1);
    }
  });

  // Mercurius runs in a separate process.
  if (name.startsWith('Mercurius')) return;

  it('the audit names a context that Nest gives to all requests, and a function that does [P08]', async () => {
    const [object, fresh, repeated] = [new CapturedLog(), new CapturedLog(), new CapturedLog()];
    const apps = [
      await start(service.url, { contexts: ['object'], logger: object }),
      await start(service.url, { contexts: ['new objects'], logger: fresh }),
      await start(service.url, { contexts: ['one object'], logger: repeated }),
    ];
    for (const token of ['ann', 'bob', 'ann']) await ask(apps[2]?.url ?? '', '{ me }', token);
    for (const app of apps) await app.close();

    expect(object.having('warn', 'audit: GraphQLModule has one object as its context')).toHaveLength(
      NEST_MAJOR === 11 ? 1 : 0,
    );
    expect(
      repeated.having('warn', 'audit: the context function of GraphQLModule returns one object'),
    ).toHaveLength(1);
    expect(fresh.having('warn', 'audit: ')).toEqual([]);
  });
});

@ObjectType()
class Later {
  @Field(() => String)
  readonly id!: string;
}

const As = (): ParameterDecorator => Args('as', { type: () => String, nullable: true });
const nameOf = (username: string | undefined): string => username ?? 'no user';

/** Fields with guards of their own. The handler of `held` starts long after its guard. */
@Resolver(() => Later)
class UsersResolver {
  static later: Promise<void> = Promise.resolve();
  /** How often a handler ran that does not wait. */
  static ran = 0;
  /** The argument of a field that may name its token. */
  static presentedAs: string | undefined;

  @Query(() => String)
  @UseInterceptors(HoldingInterceptor)
  @UseGuards(SessionAuthGuard)
  held(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string | undefined,
    @As() as?: string,
  ): string {
    UsersResolver.presentedAs = as;
    return `${nameOf(username)} ${token ?? 'no token'}`;
  }

  @Query(() => String)
  @OptionalAuth()
  now(@CurrentUser('username') username: string | undefined, @As() as?: string): string {
    UsersResolver.presentedAs = as;
    UsersResolver.ran += 1;
    return nameOf(username);
  }

  @Query(() => Later)
  async later(): Promise<Later> {
    await UsersResolver.later;
    return { id: 'later' };
  }

  @ResolveField(() => String)
  @OptionalAuth()
  user(@CurrentUser('username') username: string | undefined): string {
    UsersResolver.ran += 1;
    return nameOf(username);
  }
}

/** An application may name the session of each field. */
const fromArgument: TokenSource = (context) => context.getArgByIndex<{ as?: string } | undefined>(1)?.as;

describe.each(platforms('Express'))('users of fields on %s', (_name, platform) => {
  const bed = testbed(platform);
  afterEach(() => {
    HoldingInterceptor.held = Promise.resolve();
    UsersResolver.later = Promise.resolve();
    UsersResolver.ran = 0;
  });

  async function start(
    token: TokenSource | undefined,
  ): Promise<{ service: ScriptedService; running: RunningApp }> {
    const service = await bed.service();
    const driver: ApolloDriverConfig = {
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
      fieldResolverEnhancers: ['guards'],
    };
    const imports = [GraphQLModule.forRoot<ApolloDriverConfig>(driver)];
    const options = { cache: { ttlMs: 60_000 }, ...(token && { token }) };
    const running = await bed.sample({
      baseUrl: service.url,
      options,
      imports,
      controllers: [],
      providers: [UsersResolver],
    });
    return { service, running };
  }

  it('a field keeps its user while other fields of its operation are let in as another user and without one [P16]', async () => {
    let release = (): void => undefined;
    HoldingInterceptor.held = new Promise((resolve) => (release = resolve));
    const { service, running } = await start(fromArgument);
    const ann = service.signInAs({ username: 'ann' });
    const bob = service.signInAs({ username: 'bob' });
    const query = `{ held(as: "${ann}") first: now(as: "${bob}") second: now(as: "refused") third: now(as: "${bob}") }`;
    const answer = postGraphql(running.url, { query });
    await until('the other fields', () => UsersResolver.ran === 3);
    release();
    const { data } = (await (await answer).json()) as GraphqlReply;

    expect(data).toEqual({ held: `ann ${ann}`, first: 'bob', second: 'no user', third: 'bob' });
  });

  it('a handler that requires a session has its user, also where the session ends before the handler starts [P16]', async () => {
    let [release, resolveLater] = [(): void => undefined, (): void => undefined];
    HoldingInterceptor.held = new Promise((resolve) => (release = resolve));
    UsersResolver.later = new Promise((resolve) => (resolveLater = resolve));
    const { service, running } = await start(undefined);
    const token = service.signInAs({ username: 'ann' });
    const answer = postGraphql(running.url, { query: '{ held later { user } }' }, token);
    const sessions = running.app.get(SessionAuthService);
    await until('the check', () => sessions.countCached() === 1);
    await sessions.signOut(token);
    service.on('user_details', reply(401));
    resolveLater();
    await until('the other field', () => UsersResolver.ran === 1);
    release();
    const { data } = (await (await answer).json()) as GraphqlReply;

    expect(data).toEqual({ held: `ann ${token}`, later: { user: 'no user' } });
  });
});
