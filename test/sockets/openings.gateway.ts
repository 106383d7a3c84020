import {
  UseFilters,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type NestInterceptor,
  type ExecutionContext,
} from '@nestjs/common';
import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayInit,
  type WsResponse,
} from '@nestjs/websockets';
import {
  CclScope,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  type PresentedSession,
  type UserRecord,
} from 'nestjs-session-auth';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { SessionAuthErrorFilter } from 'nestjs-session-auth/errors';
import { SessionSockets, type SessionSocketOptions, type SocketClient } from 'nestjs-session-auth/sockets';

/** The settings of the gateway, and the events of its sockets. */
export class GatewayPlan {
  /** How often a guarded handler ran. */
  ran = 0;
  /** How it watches the sockets, if it protects its server. */
  watch: SessionSocketOptions | undefined;
  /** How many sockets opened. */
  connected = 0;
}

/** Leaves time for other messages between the guard and the parameters of a handler. */
class SlowInterceptor implements NestInterceptor {
  async intercept(_context: ExecutionContext, next: CallHandler): Promise<ReturnType<CallHandler['handle']>> {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    return next.handle();
  }
}

const answer = (data: unknown): WsResponse => ({ event: 'answer', data });

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
export class OpeningsGateway implements OnGatewayInit, OnGatewayConnection {
  constructor(
    private readonly sessions: SessionAuthService,
    private readonly sockets: SessionSockets,
    private readonly plan: GatewayPlan,
  ) {}

  afterInit(server: object): void {
    if (this.plan.watch) this.sockets.protect(server, this.plan.watch);
  }

  handleConnection(): void {
    this.plan.connected += 1;
  }

  @SubscribeMessage('me')
  @UseInterceptors(SlowInterceptor)
  me(@CurrentUser() user: UserRecord, @CurrentSession() { token, authIv: iv }: PresentedSession): WsResponse {
    this.plan.ran += 1;
    return answer({ me: user.username, token, iv });
  }

  @SubscribeMessage('client')
  @CclScope({ client_id: 'clientId' })
  client(): WsResponse {
    this.plan.ran += 1;
    return answer('client');
  }

  @SubscribeMessage('secrets')
  @Roles('hiring_manager')
  secrets(): WsResponse {
    this.plan.ran += 1;
    return answer('secret');
  }

  @SubscribeMessage('greeting')
  @OptionalAuth()
  greeting(@CurrentUser('username') username: string | undefined): WsResponse {
    return answer(`hello ${username ?? 'stranger'}`);
  }

  @SubscribeMessage('open')
  @Public()
  open(@MessageBody() body: unknown): WsResponse {
    return answer(body);
  }

  @SubscribeMessage('own-page')
  @Public()
  @UseGuards(SameOriginGuard)
  ownPage(): WsResponse {
    return answer('own page');
  }

  @SubscribeMessage('user-of-socket')
  @Public()
  userOfSocket(@ConnectedSocket() client: SocketClient): WsResponse {
    return answer(this.sockets.userOf(client)?.username ?? 'nobody');
  }

  @SubscribeMessage('sign-out')
  @Public()
  @UseFilters(SessionAuthErrorFilter)
  async signOut(@MessageBody('token') token: string): Promise<WsResponse> {
    await this.sessions.signOut(token);
    return answer('bye');
  }
}
