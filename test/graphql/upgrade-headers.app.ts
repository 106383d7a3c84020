import { Module, UseGuards, type DynamicModule } from '@nestjs/common';
import { Query, Resolver, Subscription } from '@nestjs/graphql';
import {
  CurrentUser,
  fromBearer,
  fromCookie,
  fromHeader,
  Public,
  SessionAuthGuard,
  SessionAuthModule,
  type TokenSource,
} from 'nestjs-session-auth';

/** The headers that code of the application saw in its last call. */
interface Seen {
  source?: object;
  contextOfSource?: object;
}

const seen: Seen = {};

interface ContextOfServer {
  readonly req?: {
    readonly headers?: object;
    readonly extra?: { readonly request?: { readonly headers?: object } };
  };
  readonly request?: { readonly headers?: object };
}

/**
 * A source of the application that finds nothing. It looks at its arguments, and at the request in the
 * context of the GraphQL server.
 */
const ownSource: TokenSource = (context, { headers }) => {
  const { req, request } = context.getArgByIndex<ContextOfServer>(2);
  seen.source = { ...headers };
  seen.contextOfSource = { ...(request ?? req?.extra?.request ?? req)?.headers };
  return undefined;
};

@Resolver()
@UseGuards(SessionAuthGuard)
class WhoResolver {
  @Query(() => String)
  who(@CurrentUser('username') username = ''): string {
    return username;
  }

  @Query(() => String)
  @Public()
  seen(): string {
    return JSON.stringify(seen);
  }

  @Subscription(() => String)
  async *news(@CurrentUser('username') username = ''): AsyncGenerator<{ news: string }> {
    yield { news: await Promise.resolve(username) };
  }

  @Subscription(() => String)
  @Public()
  async *open(): AsyncGenerator<{ open: string }> {
    yield { open: await Promise.resolve('open') };
  }
}

@Module({})
class UpgradeHeadersModule {}

/** An application whose browsers have a cookie. */
export function upgradeHeadersApp(graphql: DynamicModule, baseUrl = ''): DynamicModule {
  const registration = SessionAuthModule.forRoot({
    baseUrl,
    apiKey: 'key',
    timeoutMs: 30_000,
    token: [fromHeader('X-Auth-Token'), fromBearer(), ownSource, fromCookie('sid')],
  });
  return { module: UpgradeHeadersModule, imports: [registration, graphql], providers: [WhoResolver] };
}
