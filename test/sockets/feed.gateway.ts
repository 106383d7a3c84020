import {
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import {
  AuthToken,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  type PresentedSession,
  Public,
  Roles,
  SessionAuthGuard,
} from 'nestjs-session-auth';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import {
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
  type WsResponse,
} from '@nestjs/websockets';

/** A server of either library, as far as a test broadcasts with it. */
interface BroadcastingServer {
  readonly clients?: Iterable<{ readonly readyState: number; send(data: string): void }>;
  emit(event: string, data: string): unknown;
}

/** The events of a feed's sockets. */
export class Feed {
  server: BroadcastingServer | undefined;
  /** Whether the gateway protects its server. */
  protects = true;
  /** The user of each socket that opened, as `handleConnection` found it. */
  readonly connected: (string | undefined)[] = [];

  /** Sends to every socket there is. */
  broadcast(): void {
    const { server } = this;
    if (server?.clients) {
      for (const client of server.clients)
        if (client.readyState === 1) client.send(JSON.stringify({ event: 'news', data: 'secret news' }));
    } else server?.emit('news', 'secret news');
  }
}

/** Leaves time for other messages between the guard and the parameters of a handler. */
export class HoldingInterceptor implements NestInterceptor {
  static held: Promise<void> = Promise.resolve();

  async intercept(_context: ExecutionContext, next: CallHandler): Promise<ReturnType<CallHandler['handle']>> {
    await HoldingInterceptor.held;
    return next.handle();
  }
}

/** No row waits for the next check of a socket. */
const WATCH = { recheckMs: 3_600_000 };

const answer = (data: unknown): WsResponse => ({ event: 'answer', data });

/** A gateway that broadcasts. */
@WebSocketGateway()
@UseGuards(SessionAuthGuard)
export class FeedGateway implements OnGatewayInit, OnGatewayConnection {
  constructor(
    readonly sockets: SessionSockets,
    readonly feed: Feed,
  ) {}

  afterInit(server: object): void {
    this.feed.server = server as BroadcastingServer;
    if (this.feed.protects) this.sockets.protect(server, WATCH);
  }

  handleConnection(client: SocketClient): void {
    this.feed.connected.push(this.sockets.userOf(client)?.username);
  }

  @SubscribeMessage('session')
  session(@CurrentSession() { token, authIv }: PresentedSession): WsResponse {
    return answer({ token, authIv });
  }

  @SubscribeMessage('me')
  me(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string | undefined,
  ): WsResponse {
    return answer({ username, token });
  }

  @SubscribeMessage('held')
  @UseInterceptors(HoldingInterceptor)
  held(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string | undefined,
  ): WsResponse {
    return answer({ held: username, token });
  }

  @SubscribeMessage('public')
  @Public()
  open(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string | undefined,
    @MessageBody() body: unknown,
  ): WsResponse {
    return answer({ public: username ?? 'no user', token: token ?? 'no token', body: typeof body });
  }

  @SubscribeMessage('optional')
  @OptionalAuth()
  optional(
    @CurrentUser('username') username: string | undefined,
    @AuthToken() token: string | undefined,
  ): WsResponse {
    return answer({ optional: username ?? 'no user', token: token ?? 'no token' });
  }

  @SubscribeMessage('managers')
  @Roles('hiring_manager')
  managers(): WsResponse {
    return answer('managers');
  }
}
