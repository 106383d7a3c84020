import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { describe, expect, it } from '@jest/globals';
import { Module, type Type } from '@nestjs/common';
import { Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { CurrentUser, fromHeader, OptionalAuth, SessionAuthModule, SessionAuthority, type AuthorityResolver } from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

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

describe.each(platforms('Express'))('fields of GraphQL and several session services on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function started(): Promise<{ app: RunningApp; own: ScriptedService; partners: ScriptedService }> {
    const [own, partners] = [await bed.service(), await bed.service()];
    const providers: Type[] = [StaffResolver, DeskResolver];
    const root = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ baseUrl: own.url, apiKey: 'own-key', authority: byTenant }),
        SessionAuthModule.forRoot({ name: 'partners', baseUrl: partners.url, apiKey: 'key', token: fromHeader('x-partner-token') }),
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
    const reply = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: text }),
    });
    const { data, errors } = (await reply.json()) as { data: unknown; errors?: { extensions: { code: string } }[] };
    return errors ? errors.map(({ extensions }) => extensions.code) : data;
  }

  it('of one operation are each checked by the one that they name, and have its user', async () => {
    const { app, own, partners } = await started();
    const headers = { 'x-auth-token': own.signInAs({ username: 'ann' }), 'x-partner-token': partners.signInAs({ username: 'bob' }) };

    expect(await query(app, '{ staff desk { name partner clerk } }', headers)).toEqual({
      staff: 'ann',
      desk: { name: 'desk', partner: 'bob', clerk: 'ann' },
    });
    for (const { headers: seen } of own.requests) expect(seen['x-auth-token']).toBe(headers['x-auth-token']);
    for (const { headers: seen } of partners.requests) expect(seen['x-auth-token']).toBe(headers['x-partner-token']);
  });

  it('are denied with a session of another', async () => {
    const { app, own, partners } = await started();

    expect(await query(app, '{ desk { name } }', { 'x-partner-token': own.signInAs({}) })).toEqual(['UNAUTHENTICATED']);
    expect(await query(app, '{ staff }', { 'x-auth-token': partners.signInAs({}) })).toEqual(['UNAUTHENTICATED']);
  });

  it('are checked by the one that the option authority selects, also if the session is optional', async () => {
    const { app, partners } = await started();
    const headers = { 'x-partner-token': partners.signInAs({ username: 'bob' }) };

    expect(await query(app, '{ selected }', { ...headers, 'x-tenant': 'partners' })).toEqual({ selected: 'bob' });
    expect(await query(app, '{ selected }', headers)).toEqual({ selected: 'undefined' });
    expect(await query(app, '{ selected }', { ...headers, 'x-tenant': 'unknown' })).toEqual(['UNAUTHENTICATED']);
  });
});
