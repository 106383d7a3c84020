import { describe, expect, it } from '@jest/globals';
import { UseGuards } from '@nestjs/common';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql';
import { createClient } from 'graphql-ws';
import { CurrentUser, Public, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { WebSocket } from 'ws';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';

@Resolver()
@UseGuards(SessionAuthGuard)
class NewsResolver {
  @Query(() => String)
  @Public()
  name(): string {
    return 'news';
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username: string): AsyncGenerator<{ news: string }> {
    yield { news: `hello ${username}` };
    await new Promise(() => undefined);
  }
}

interface Connection {
  readonly connectionParams?: { readonly token?: string };
  readonly extra: { readonly socket: SocketClient };
}

/** As the documentation shows it. */
const graphql = () =>
  GraphQLModule.forRootAsync<ApolloDriverConfig>({
    driver: ApolloDriver,
    inject: [SessionSockets],
    useFactory: (sockets: SessionSockets) => ({
      autoSchemaFile: true,
      subscriptions: {
        'graphql-ws': {
          onConnect: async (context: unknown) => {
            const { connectionParams, extra } = context as Connection;
            await sockets.watch(extra.socket, { headers: { 'x-auth-token': connectionParams?.token } });
          },
        },
      },
    }),
  });

describe.each(PLATFORMS)('a subscription whose socket is watched, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function connect(token: string) {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const { app, url } = await bed.sample({ baseUrl: service.url, imports: [graphql()], controllers: [], providers: [NewsResolver] });
    let closed: unknown;
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token },
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => undefined,
      on: { closed: (event) => (closed = event) },
    });
    const closing = async (): Promise<unknown> => {
      await until('the end of the socket', () => closed !== undefined);
      return closed;
    };
    return { sessions: app.get(SessionAuthService), client, closing };
  }

  it('ends when its session does', async () => {
    const { sessions, client, closing } = await connect('good');
    const news = client.iterate({ query: 'subscription { news }' });
    expect((await news.next()).value).toEqual({ data: { news: 'hello ann' } });
    const next = Promise.resolve(news.next()).catch(() => 'over');
    await sessions.signOut('good');

    expect(await closing()).toMatchObject({ code: 4401, reason: 'SESSION_REJECTED' });
    await next;
  });

  it('does not begin without a session', async () => {
    const { closing } = await connect('bad');
    expect(await closing()).toMatchObject({ code: 4401, reason: 'SESSION_REJECTED' });
  });
});
