import { afterEach, describe, expect } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import { Args, Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { AuthToken, CurrentUser, OptionalAuth, SessionAuthGuard, SessionAuthService, type TokenSource } from 'nestjs-session-auth';
import { reply } from 'nestjs-session-auth/testing';
import { postGraphql, type GraphqlReply } from './graphql-client.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { HoldingInterceptor } from '../sockets/feed.gateway.js';
import { plainRow } from '../support/trial/row.js';

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
  held(@CurrentUser('username') username: string | undefined, @AuthToken() token: string | undefined, @As() as?: string): string {
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

describe.each(PLATFORMS)('users of fields on %s', (_name, platform) => {
  const bed = testbed(platform);
  afterEach(() => {
    HoldingInterceptor.held = Promise.resolve();
    UsersResolver.later = Promise.resolve();
    UsersResolver.ran = 0;
  });

  async function start(token: TokenSource | undefined): Promise<{ service: ScriptedService; running: RunningApp }> {
    const service = await bed.service();
    const driver: ApolloDriverConfig = { driver: ApolloDriver, autoSchemaFile: true, graphiql: false, fieldResolverEnhancers: ['guards'] };
    const imports = [GraphQLModule.forRoot<ApolloDriverConfig>(driver)];
    const options = { cache: { ttlMs: 60_000 }, ...(token && { token }) };
    const running = await bed.sample({ baseUrl: service.url, options, imports, controllers: [], providers: [UsersResolver] });
    return { service, running };
  }

  plainRow('a field keeps its user while other fields of its operation are let in as another user and without one [P16]', async () => {
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

  plainRow('a handler that requires a session has its user, also where the session ends before the handler starts [P16]', async () => {
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
