import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Cluster, Redis } from 'ioredis';
import {
  CurrentUser,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  type UserRecord,
  type VerifyOptions,
} from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import type { InstanceSettings } from './instance-settings.js';

const { platform, baseUrl, clockOffsetMs = 0, redis: at, store, options } = JSON.parse(process.argv[2] ?? '') as InstanceSettings;

const wallClock = Date.now.bind(Date);
Date.now = () => wallClock() + clockOffsetMs;

const redis = 'nodes' in at ? new Cluster(at.nodes, at.options ?? {}) : new Redis({ port: at.port, host: '127.0.0.1', ...at.options });
redis.on('error', () => undefined);

@Controller()
class MeController {
  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }
}

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'application-key',
      ...options,
      cache: { ttlMs: 60_000, ...options?.cache, store: new RedisSessionStore({ redis, ...store }) },
    }),
  ],
  controllers: [MeController],
})
class InstanceModule {}

const log: string[] = [];
const keep = (level: string) => (message: unknown) => void log.push(`${level} ${String(message)}`);
const app = await NestFactory.create(InstanceModule, platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter(), {
  logger: { log: keep('log'), warn: keep('warn'), error: keep('error'), fatal: keep('fatal') },
});
await app.listen(0, '127.0.0.1');

const [sessions, events] = [app.get(SessionAuthService), app.get(SessionAuthEvents)];
const ended: string[] = [];
events.ended$.subscribe((fingerprint) => ended.push(fingerprint));
const endedUsers: (string | null)[] = [];
events.endedUsers$.subscribe((username) => endedUsers.push(username ?? null));

/** What came of a call: `done`, or the code of its error. */
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => String((error as { code?: string }).code ?? error),
  );

const commands = {
  signOut: (token: string) => outcome(sessions.signOut(token)),
  forget: (token: string) => outcome(sessions.forget(token)),
  endUser: (username: string) => outcome(sessions.endUser(username)),
  endAll: () => outcome(sessions.endAll()),
  /** Users whose sessions were all revoked, `null` for all users. */
  endedUsers: () => endedUsers,
  verify: (token: string, how: VerifyOptions) => outcome(sessions.verify(token, how)),
  userDetails: (token: string) => outcome(sessions.userDetails(token)),
  signIn: (username: string) => outcome(sessions.signIn({ username, password: 'password' })),
  /** How often the end of a session was told here. */
  endsOf: (token: string) => ended.filter((fingerprint) => fingerprint === events.fingerprintOf(token)).length,
  ends: () => ended.length,
  warnings: () => log.filter((line) => line.startsWith('warn') || line.startsWith('error')),
  closeApp: () => app.close(),
  /** Whether the client of the application still works, which then is closed. Nothing ends this process afterwards: it has to end by itself. */
  quitClient: async () => {
    const answer = await redis.ping().catch((error: unknown) => String(error));
    await redis.quit().catch(() => redis.disconnect());
    return answer;
  },
  dropClient: () => redis.disconnect(),
};

/** What an instance can be told to do. */
export type Commands = typeof commands;

process.on('message', ({ id, name, args }: { id: number; name: keyof Commands; args: unknown[] }) => {
  const command = commands[name] as (...args: unknown[]) => unknown;
  void Promise.resolve(command(...args)).then((result) => process.send?.({ id, result }));
});
process.channel?.unref();
process.send?.({ id: 0, result: await app.getUrl() });
