// The application that each runtime runs. It prints its address to the standard output, and closes on
// request.
import 'reflect-metadata';
import { Body, Controller, Delete, Get, HttpCode, Module, Post, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  AuthToken,
  CurrentUser,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
} from 'nestjs-session-auth';

let close = (): void => undefined;
const closing = new Promise<void>((resolve) => (close = resolve));

@UseGuards(SessionAuthGuard)
@Controller()
class SampleController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') me(@CurrentUser() user: UserRecord): unknown {
    return user;
  }

  @Get('managers') @Roles('hiring_manager') managers(): string {
    return 'managers';
  }

  @Public() @Post('session') @HttpCode(200) async signIn(
    @Body() body: { username: string; password: string },
  ): Promise<unknown> {
    const result = await this.sessions.signIn(body);
    return { token: result.kind === 'signed-in' ? result.token : undefined };
  }

  @Delete('session') @HttpCode(204) signOut(@AuthToken() token: string): Promise<void> {
    return this.sessions.signOut(token);
  }

  @Public() @Post('close') @HttpCode(202) close(): void {
    close();
  }
}

const { SESSION_SERVICE_URL: baseUrl = '', TIMEOUT_MS, PLATFORM } = process.env;

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'key-of-the-trial',
      timeoutMs: Number(TIMEOUT_MS),
      cache: { ttlMs: 60_000 },
    }),
  ],
  controllers: [SampleController],
})
class AppModule {}

async function run(): Promise<void> {
  const adapter = PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(AppModule, adapter, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}`);
  await closing;
  await app.close();
  console.log('closed');
}
void run();
