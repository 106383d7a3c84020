import 'reflect-metadata';
import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  Param,
  Post,
  UseGuards,
  type DynamicModule,
} from '@nestjs/common';
import {
  CurrentUser,
  FreshSession,
  fromCookie,
  fromHeader,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  type Credentials,
  type UserRecord,
} from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { sessionSockets } from 'nestjs-session-auth/sockets';
import type { Redis } from 'ioredis';
import {
  API_KEY,
  BREAKER,
  cacheOf,
  COOKIE,
  MAX_IN_FLIGHT,
  STORE_TIMEOUT_MS,
  TIMEOUT_MS,
  TRUSTED_ORIGIN,
} from './settings.js';
import type { ApplicationName } from './settings.js';

/** The user in a reply of an application. */
interface Shown {
  readonly username: string | undefined;
}

@Controller()
class SoakController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: UserRecord): Shown {
    return { username: user.username };
  }

  @Get('managers')
  @UseGuards(SessionAuthGuard)
  @Roles('hiring_manager')
  managers(@CurrentUser() user: UserRecord): Shown {
    return { username: user.username };
  }

  @Get('fresh')
  @UseGuards(SessionAuthGuard)
  @FreshSession()
  fresh(@CurrentUser() user: UserRecord): Shown {
    return { username: user.username };
  }

  /** A page may call it with the cookie. */
  @Post('change')
  @HttpCode(200)
  @UseGuards(SessionAuthGuard)
  change(@CurrentUser() user: UserRecord): Shown {
    return { username: user.username };
  }

  @Post('session')
  @HttpCode(200)
  async signIn(@Body() credentials: Credentials): Promise<{ kind: string; token?: string }> {
    const result = await this.sessions.signIn(credentials);
    return { kind: result.kind, ...(result.kind === 'signed-in' && { token: result.token }) };
  }

  @Delete('session')
  async signOut(@Headers('x-auth-token') token: string): Promise<void> {
    await this.sessions.signOut(token);
  }

  @Delete('cached-session')
  async forget(@Headers('x-auth-token') token: string): Promise<void> {
    await this.sessions.forget(token);
  }

  @Delete('users/:username')
  async forgetUser(@Param('username') username: string): Promise<void> {
    await this.sessions.forgetUser(username);
  }
}

@Module({})
class SoakModule {}

/** The application under test; with a client of Redis, one instance of a fleet. */
export function soakModule(name: ApplicationName, baseUrl: string, redis?: Redis): DynamicModule {
  const store = redis && { store: new RedisSessionStore({ redis, timeoutMs: STORE_TIMEOUT_MS }) };
  const session = SessionAuthModule.forRoot({
    plugins: [sessionSockets],
    ...{
      baseUrl,
      apiKey: API_KEY,
      cache: { ...cacheOf(name), ...store },
      breaker: BREAKER,
      maxInFlight: MAX_IN_FLIGHT,
    },
    ...{ timeoutMs: TIMEOUT_MS, signInTimeoutMs: TIMEOUT_MS, signOutTimeoutMs: TIMEOUT_MS },
    token: [fromHeader('x-auth-token'), fromCookie(COOKIE, { trustedOrigins: [TRUSTED_ORIGIN] })],
  });
  return { module: SoakModule, imports: [session], controllers: [SoakController] };
}
