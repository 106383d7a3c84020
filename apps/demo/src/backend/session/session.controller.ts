import { Body, Controller, Delete, Header, Headers, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiTags,
  ApiTooManyRequestsResponse,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import {
  CurrentSession,
  Public,
  SessionAuthService,
  type PresentedSession,
  type UserRecord,
} from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';
import { SignInDto } from './sign-in.dto.js';

/** The body of the reply to a sign-in. With 202, it contains neither a user nor a token. */
export type SignInReply = { readonly user: UserRecord; readonly token: string } | { readonly accepted: true };

/** The part of a reply that Express and Fastify share. */
interface Reply {
  status(code: number): unknown;
}

/** Signs in and out. The library's errors have the right status, so this controller handles none. */
@ApiTags('session')
@Controller('api/session')
export class SessionController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Public()
  @Post()
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @ApiOkResponse({ description: 'Signed in: the user and the token for X-AUTH-TOKEN' })
  @ApiAcceptedResponse({ description: 'Accepted, but not signed in: no user and no token' })
  @ApiUnauthorizedResponse({ description: 'The username or the password is wrong' })
  @ApiTooManyRequestsResponse({
    description: 'The session service limits sign-ins: Retry-After says how long to wait',
  })
  async signIn(
    @Body() credentials: SignInDto,
    @Headers('x-auth-iv') authIv: string | undefined,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<SignInReply> {
    const result = await this.sessions.signIn(credentials, { authIv });
    if (result.kind === 'signed-in') return { user: result.user, token: result.token };
    reply.status(HttpStatus.ACCEPTED);
    return { accepted: true };
  }

  @Delete()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiSessionAuth()
  @ApiNoContentResponse({ description: 'Signed out: the token is no longer valid' })
  async signOut(@CurrentSession() session: PresentedSession): Promise<void> {
    await this.sessions.signOut(session);
  }
}
