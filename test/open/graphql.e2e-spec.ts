import { afterEach, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Get, Inject, Req, Res, UseGuards } from '@nestjs/common';
import { GraphQLModule, GraphQLSchemaHost, Query, Resolver, Subscription } from '@nestjs/graphql';
import { parse, subscribe, type ExecutionResult } from 'graphql';
import { createClient, type Client } from 'graphql-ws';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { CurrentUser, Public, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { WebSocket } from 'ws';
import { EXPRESS, PLATFORMS, type Platform, type RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { openReply } from './open-reply.js';

@Resolver()
@UseGuards(SessionAuthGuard)
class NewsResolver {
  @Query(() => String)
  @Public()
  name(): string {
    return 'news';
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username = ''): AsyncGenerator<{ news: string }> {
    for (;;) {
      yield { news: `hello ${username}` };
      await pause(5);
    }
  }
}

/** Sends the events of a subscription as graphql-sse does. */
@Controller()
class EventsController {
  constructor(@Inject(GraphQLSchemaHost) private readonly host: GraphQLSchemaHost) {}

  @Get('events')
  @Public()
  async events(@Req() req: IncomingMessage, @Res() res: ServerResponse): Promise<void> {
    const document = parse('subscription { news }');
    const results = await subscribe({ schema: this.host.schema, document, contextValue: { req, res } });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const result of results as AsyncIterable<ExecutionResult>) {
      if (res.destroyed) break;
      res.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`);
    }
  }
}

function bedOn(platform: Platform) {
  const clients: Client[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });
  const bed = testbed(platform);
  return async (): Promise<{
    service: ScriptedService;
    app: RunningApp;
    connect: (token: string) => Client;
  }> => {
    const service = await bed.service();
    const app = await bed.sample({
      baseUrl: service.url,
      options: { retry: false, breaker: false },
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
        }),
      ],
      controllers: [EventsController],
      providers: [NewsResolver],
    });
    return {
      service,
      app,
      connect: (token) => {
        const client = createClient({
          url: `${app.url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          connectionParams: { token },
          retryAttempts: 0,
          lazy: false,
          onNonLazyError: () => undefined,
        });
        clients.push(client);
        return client;
      },
    };
  };
}

describe.each(PLATFORMS)('a subscription over graphql-ws on %s', (_name, platform) => {
  const start = bedOn(platform);

  it('ends with its session, and its socket is closed with 4401 [P39]', async () => {
    const { service, app, connect } = await start();
    const [token, other] = [service.signInAs({ username: 'ann' }), service.signInAs({ username: 'bob' })];
    const [mine, others]: unknown[][] = [[], []];
    const closed = new Promise((resolve) => {
      connect(token).subscribe(
        { query: 'subscription { news }' },
        { next: ({ data }) => void mine?.push(data), error: resolve, complete: () => resolve('complete') },
      );
    });
    connect(other).subscribe(
      { query: 'subscription { news }' },
      { next: ({ data }) => void others?.push(data), error: () => undefined, complete: () => undefined },
    );
    await until('both have begun', () => (mine?.length ?? 0) > 1 && (others?.length ?? 0) > 1);
    await app.app.get(SessionAuthService).signOut(token);

    expect(await closed).toMatchObject({ code: 4401, reason: 'SESSION_REJECTED' });
    const soFar = others?.length ?? 0;
    await until('the other goes on', () => (others?.length ?? 0) > soFar + 2);
  });
});

describe('a subscription over a stream of events', () => {
  const start = bedOn(EXPRESS);

  it('ends with its session, with an error of GraphQL [P39]', async () => {
    const { service, app } = await start();
    const token = service.signInAs({ username: 'ann' });
    const stream = await openReply(`${app.url}/events`, token);
    await until('it has begun', () => stream.text().includes('hello ann'));
    await app.app.get(SessionAuthService).forgetUser('ann');

    expect(await stream.over()).toBe('complete');
    expect(stream.text()).toMatch(
      /event: next\ndata: \{"errors":\[\{.*"UNAUTHENTICATED".*\n\nevent: complete\ndata:\n\n$/,
    );
  });
});
