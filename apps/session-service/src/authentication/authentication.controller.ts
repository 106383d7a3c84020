import { type IncomingMessage, type ServerResponse } from 'node:http';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  Res,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
} from '@nestjs/common';
import { ApplicationKeyGuard } from '../application-keys/application-key.guard.js';
import { JsonBodyInterceptor } from '../http/json-body.interceptor.js';
import { Sessions } from '../sessions/sessions.js';
import { toUserRecord, type UserRecord } from '../users/user-record.js';
import { PresentedToken } from './presented-token.decorator.js';
import { SignInDto } from './sign-in.dto.js';
import { SignIn } from './sign-in.js';

/** The three operations of the service (interface, 4). */
@Controller('authentication')
@UseGuards(ApplicationKeyGuard)
export class AuthenticationController {
  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
  ) {}

  /** Sign in (interface, 4.1). */
  @Post()
  @HttpCode(HttpStatus.OK)
  @UseInterceptors(JsonBodyInterceptor)
  async create(
    @Body(new ValidationPipe({ transform: true, whitelist: true })) credentials: SignInDto,
    @Req() { socket }: IncomingMessage,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<UserRecord | undefined> {
    const outcome = await this.signIn.attempt(credentials, socket.remoteAddress);
    if (outcome.kind === 'refused') throw new UnauthorizedException();
    if (outcome.kind === 'signed-in') return outcome.record;
    response.statusCode = HttpStatus.ACCEPTED;
    return undefined;
  }

  /** Sign out (interface, 4.2). */
  @Delete()
  async remove(@PresentedToken() token: string): Promise<void> {
    if (!(await this.sessions.end(token))) throw new UnauthorizedException();
  }

  /**
   * Details of the signed-in user (interface, 4.3). `private` keeps the response, or a 401, out of shared
   * HTTP caches. `no-store` would also prevent `nestjs-session-auth` from caching it.
   */
  @Get('user_details')
  @Header('Cache-Control', 'private')
  async userDetails(@PresentedToken() token: string): Promise<UserRecord> {
    const user = await this.sessions.findUser(token);
    if (!user) throw new UnauthorizedException();
    return toUserRecord(user, token);
  }
}
