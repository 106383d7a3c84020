import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { describe, expect, it } from '@jest/globals';
import { Catch, UseGuards, type ExceptionFilter, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { Public, Roles, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { postGraphql, type GraphqlReply } from './graphql-client.js';

const caught: unknown[] = [];

/** A filter as Nest's documentation of GraphQL has it: it returns the error to report. */
@Catch()
class CatchEverythingFilter implements ExceptionFilter {
  catch(exception: unknown): unknown {
    caught.push(exception);
    return exception;
  }
}

/** A resolver of its own for each application: @nestjs/graphql moves the fields of a class that another extends. */
function accountResolver(): Type {
  @Resolver()
  @UseGuards(SessionAuthGuard)
  class AccountResolver {
    constructor(private readonly sessions: SessionAuthService) {}

    @Query(() => String) me(): string {
      return 'in';
    }

    @Query(() => String) @Roles('manager') managers(): string {
      return 'in';
    }

    @Query(() => String)
    @Public()
    async signIn(@Args('password') password: string): Promise<string> {
      return (await this.sessions.signIn({ username: 'ann', password })).kind;
    }
  }
  return AccountResolver;
}

/** A query, the token, the code of GraphQL, and the error. */
const FAILURES = [
  [
    '{ me }',
    undefined,
    'UNAUTHENTICATED',
    { name: 'SessionRejectedError', statusCode: 401, code: 'SESSION_REQUIRED' },
  ],
  [
    '{ me }',
    'bad',
    'UNAUTHENTICATED',
    { name: 'SessionRejectedError', statusCode: 401, code: 'SESSION_REJECTED' },
  ],
  [
    '{ managers }',
    'clerk',
    'FORBIDDEN',
    { name: 'AccessDeniedError', statusCode: 403, code: 'ACCESS_DENIED' },
  ],
  [
    '{ me }',
    'unusable',
    'INTERNAL_SERVER_ERROR',
    { name: 'SessionServiceUnavailableError', statusCode: 503, reason: 'malformed' },
  ],
  [
    signIn(401),
    undefined,
    'UNAUTHENTICATED',
    { name: 'CredentialsRejectedError', statusCode: 401, code: 'CREDENTIALS_REJECTED' },
  ],
  [
    signIn(400),
    undefined,
    'BAD_REQUEST',
    { name: 'InvalidRequestError', statusCode: 400, code: 'INVALID_REQUEST' },
  ],
  [
    signIn(500),
    undefined,
    'INTERNAL_SERVER_ERROR',
    { name: 'SessionServiceUnavailableError', statusCode: 503, retryAfterSeconds: 5 },
  ],
] as const;

/** A sign-in that the service answers with a status. */
function signIn(status: number): string {
  return `{ signIn(password: "${status}") }`;
}

async function query(app: RunningApp, text: string, token?: string): Promise<unknown> {
  const answer = await postGraphql(app.url, { query: text }, token);
  return ((await answer.json()) as GraphqlReply).errors?.[0]?.extensions;
}

describe.each(platforms('Fastify'))('resolvers of an application on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start(resolver: Type, filters: Provider[]): Promise<RunningApp> {
    const service = await bed.service();
    service.signInAs({ role: 'clerk' }, 'clerk');
    service.signInAs({ username: 5 } as object, 'unusable');
    service.on('sign_in', (request, ...rest) => {
      const { password } = JSON.parse(request.body) as { password: string };
      reply(Number(password))(request, ...rest);
    });
    const imports = [
      GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        autoSchemaFile: true,
        graphiql: false,
      }),
    ];
    return bed.sample({ baseUrl: service.url, imports, controllers: [], providers: [resolver, ...filters] });
  }

  async function expectErrors(app: RunningApp, isCaught: boolean): Promise<void> {
    for (const [text, token, code, error] of FAILURES) {
      const { statusCode } = error;
      expect(await query(app, text, token)).toMatchObject({ code, originalError: { statusCode } });
      expect(caught.splice(0)).toEqual(isCaught ? [expect.objectContaining(error)] : []);
    }
  }

  it('without a filter, a resolver reports the errors of guard and service with their codes [P22]', async () => {
    await expectErrors(await start(accountResolver(), []), false);
  });

  it('a filter of GraphQL as APP_FILTER receives the errors of guard and service [P22]', async () => {
    await expectErrors(
      await start(accountResolver(), [{ provide: APP_FILTER, useClass: CatchEverythingFilter }]),
      true,
    );
  });
});
