import 'reflect-metadata';
import { unlink } from 'node:fs/promises';
import { writeHeapSnapshot } from 'node:v8';
import { Body, Controller, Delete, Get, HttpCode, Module, Post, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import {
  AuthToken,
  CurrentUser,
  FreshSession,
  fromBearer,
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
import type { HeapSettings } from './heap-app.js';

const { baseUrl, options, redisPort } = JSON.parse(process.argv[2] ?? '') as HeapSettings;
const store = new RedisSessionStore({ redis: new Redis({ port: redisPort, host: '127.0.0.1' }) });

@Controller()
@UseGuards(SessionAuthGuard)
class MeController {
  @Get('me')
  me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }

  @Get('hm')
  @Roles('hiring_manager')
  hiringManagers(): string {
    return 'in';
  }

  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }
}

@Controller()
class SessionsController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Post('login')
  @HttpCode(200)
  async login(@Body() credentials: Credentials): Promise<string> {
    return (await this.sessions.signIn(credentials)).kind;
  }

  @Delete('logout')
  @UseGuards(SessionAuthGuard)
  async logout(@AuthToken() token: string): Promise<void> {
    await this.sessions.signOut(token);
  }
}

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'application-key',
      token: [fromHeader('x-auth-token'), fromBearer(), fromCookie('session')],
      ...options,
      ...(options.cache && { cache: { ...options.cache, store } }),
    }),
  ],
  controllers: [MeController, SessionsController],
})
class HeapModule {}

const app = await NestFactory.create(HeapModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');

/** Everything that the process holds when its requests are over. */
async function snapshot(): Promise<string> {
  for (let round = 0; round < 5; round += 1) {
    await new Promise(setImmediate);
    globalThis.gc?.();
  }
  return writeHeapSnapshot(`${process.argv[3] ?? ''}/heap-${process.pid}.heapsnapshot`);
}

process.on('message', (message: string) => {
  const work = message === 'snapshot' ? snapshot() : unlink(message);
  void work.then((result) => process.send?.(result ?? 'removed'));
});
process.send?.(await app.getUrl());
