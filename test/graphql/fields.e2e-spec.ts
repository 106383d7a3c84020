import { afterAll, beforeAll, beforeEach, describe, expect, afterEach, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import {
  AuthToken,
  CurrentUser,
  OptionalAuth,
  SessionAuthGuard,
  type TokenSource,
} from 'nestjs-session-auth';
import { sendRaw } from '../support/raw-request.js';
import { hold, json, startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { HoldingInterceptor } from '../sockets/feed.gateway.js';
import { GRAPHQL_SERVERS, type GraphqlServer } from './graphql-servers.js';
import type { ContextKind } from './graphql-context-kinds.js';
import { postGraphql, type GraphqlReply } from './graphql-client.js';

/** Those with an identity for each request, and those without: there only the first caller may be served. */
const SERVED: readonly ContextKind[] = ['object', 'one object'];
const NOT_SERVED: readonly ContextKind[] = ['the first request', 'an instance'];
const KINDS = [...SERVED, ...NOT_SERVED];
const UNAUTHENTICATED = 'UNAUTHENTICATED';

describe.each(GRAPHQL_SERVERS)('contexts of GraphQL on %s', (_name, start) => {
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
      expect([context, await ask(url, '{ me }')]).toEqual([context, UNAUTHENTICATED]);
      expect([UNAUTHENTICATED, me('bob')]).toContainEqual(await ask(url, '{ me }', 'bob'));
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
    const upgrades = [[], ['Upgrade: websocket'], ['Upgrade: h2c']];
    for (const upgrade of upgrades) {
      service.requests.length = 0;
      const { status, headers, body } = await sendRaw(url, {
        method: 'POST',
        path: '/graphql',
        lines: ['X-Auth-Token: bob', ...upgrade],
        body: JSON.stringify({ query: '{ me openings(count: 20) { owner } }' }),
      });

      const { data } = JSON.parse(body) as GraphqlReply;
      expect([upgrade, status, data?.me]).toEqual([upgrade, 200, 'bob bob']);
      expect(headers.get('vary')?.toLowerCase()).toContain('x-auth-token');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(service.callsTo('user_details')).toBe(1);
    }
  });
});

const As = (): ParameterDecorator => Args('as', { type: () => String });

/** Fields with guards of their own. The handler of `held` starts long after its guard. */
@Resolver()
class UsersResolver {
  /** How often a handler ran that does not wait. */
  static ran = 0;

  @Query(() => String)
  @UseInterceptors(HoldingInterceptor)
  @UseGuards(SessionAuthGuard)
  held(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string,
    @As() as: string,
  ): string {
    return `${username} ${token} ${as}`;
  }

  @Query(() => String)
  @OptionalAuth()
  now(@CurrentUser('username') username: string | undefined, @As() as: string): string {
    UsersResolver.ran += 1;
    return `${username} ${as}`;
  }
}

/** An application may name the session of each field. */
const fromArgument: TokenSource = (context) => context.getArgByIndex<{ as?: string } | undefined>(1)?.as;

describe.each(platforms('Express'))('users of fields on %s', (_name, platform) => {
  const bed = testbed(platform);
  afterEach(() => void (HoldingInterceptor.held = Promise.resolve()));

  it('a field keeps its user while other fields of its operation are let in as another user and without one [P16]', async () => {
    let release = (): void => undefined;
    HoldingInterceptor.held = new Promise((resolve) => (release = resolve));
    const service = await bed.service();
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
    });
    const running = await bed.sample({
      baseUrl: service.url,
      options: { token: fromArgument },
      imports: [graphql],
      controllers: [],
      providers: [UsersResolver],
    });
    const ann = service.signInAs({ username: 'ann' }, 'ann-token');
    service.signInAs({ username: 'bob' }, 'bob-token');
    const query =
      '{ held(as: "ann-token") first: now(as: "bob-token") second: now(as: "refused") third: now(as: "bob-token") }';
    const answer = postGraphql(running.url, { query });
    await until('the other fields', () => UsersResolver.ran === 3);
    release();
    const { data } = (await (await answer).json()) as GraphqlReply;

    expect(data).toEqual({
      held: `ann ${ann} ${ann}`,
      first: 'bob bob-token',
      second: 'undefined refused',
      third: 'bob bob-token',
    });
  });
});
