import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Redis } from 'ioredis';
import {
  CurrentUser,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
  type VerifyOptions,
} from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import type { HostSettings, InstanceSettings } from './instance-settings.js';

const { clockOffsetMs = 0, forOne = false } = JSON.parse(process.argv[2] ?? '') as HostSettings;

const wallClock = Date.now.bind(Date);
Date.now = () => wallClock() + clockOffsetMs;

@Controller()
class MeController {
  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }
}

@Module({})
class InstanceModule {}

class LowerCaseRecord extends UserRecord {}
Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))(
  LowerCaseRecord.prototype,
  'username',
);

/** Returns the outcome of a call: `done`, or the code of its error. */
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => String((error as { code?: string }).code ?? error),
  );

/** Loads one platform alone: a process starts sooner. */
async function adapterOf(platform: InstanceSettings['platform']): Promise<AbstractHttpAdapter> {
  if (platform === 'Fastify') return new (await import('@nestjs/platform-fastify')).FastifyAdapter();
  return new (await import('@nestjs/platform-express')).ExpressAdapter();
}

async function startInstance({
  platform,
  baseUrl,
  redis: { port },
  store,
  options,
  lowerCaseNames,
}: InstanceSettings) {
  const redis = new Redis({ port, host: '127.0.0.1' });
  redis.on('error', () => undefined);
  const cache = { ttlMs: 60_000, ...options?.cache, store: new RedisSessionStore({ redis, ...store }) };
  const imports = [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: 'application-key',
      ...(lowerCaseNames && { userRecord: LowerCaseRecord }),
      ...options,
      cache,
    }),
  ];
  const log: string[] = [];
  const keep = (level: string) => (message: unknown) => void log.push(`${level} ${String(message)}`);
  const app = await NestFactory.create(
    { module: InstanceModule, imports, controllers: [MeController] },
    await adapterOf(platform),
    {
      forceCloseConnections: true,
      logger: { log: keep('log'), warn: keep('warn'), error: keep('error'), fatal: keep('fatal') },
    },
  );
  await app.listen(0, '127.0.0.1');
  // After a longer stall, a client would use a connection that the server has closed.
  (app.getHttpServer() as Server).keepAliveTimeout = 60_000;

  const [sessions, events] = [app.get(SessionAuthService), app.get(SessionAuthEvents)];
  const ended: string[] = [];
  events.ended$.subscribe((fingerprint) => ended.push(fingerprint));
  const forgottenUsers: (string | null)[] = [];
  events.forgottenUsers$.subscribe((username) => forgottenUsers.push(username ?? null));

  return {
    url: () => app.getUrl(),
    /** Resolves when the client of the application is connected. */
    connected: async () => {
      if (redis.status !== 'ready') await once(redis, 'ready');
    },
    signOut: (token: string) => outcome(sessions.signOut(token)),
    forget: (token: string) => outcome(sessions.forget(token)),
    forgetUser: (username: string) => outcome(sessions.forgetUser(username)),
    /** Calls `forgetUser`, and closes the application at once: its client may still be connecting. */
    forgetAndClose: async (username: string) => {
      const forgotten = outcome(sessions.forgetUser(username));
      await app.close();
      return forgotten;
    },
    isReceiving: () => events.serviceStatus.revocationBus.state === 'connected',
    forgetAll: () => outcome(sessions.forgetAll()),
    /** Users whose sessions were all revoked, `null` for all users. */
    forgottenUsers: () => forgottenUsers,
    verify: (token: string, how: VerifyOptions) => outcome(sessions.verify(token, how)),
    userDetails: (token: string) => outcome(sessions.userDetails(token)),
    signIn: (username: string) => outcome(sessions.signIn({ username, password: 'password' })),
    /** How many revocations of the session this instance emitted. */
    revocationsOf: (token: string) =>
      ended.filter((fingerprint) => fingerprint === events.fingerprintOf(token)).length,
    revocations: () => ended.length,
    warnings: () => log.filter((line) => line.startsWith('warn') || line.startsWith('error')),
    closeApp: () => app.close(),
    /**
     * Whether the client of the application still works, which then is closed. Nothing ends this process
     * afterwards: it has to end by itself.
     */
    quitClient: async () => {
      const answer = await redis.ping().catch((error: unknown) => String(error));
      await redis.quit().catch(() => redis.disconnect());
      return answer;
    },
    dropClient: () => redis.disconnect(),
    /** Ends the instance. */
    stop: async () => {
      await app.close();
      redis.disconnect();
    },
  };
}

export type Commands = Awaited<ReturnType<typeof startInstance>>;

export interface Order {
  readonly id: number;
  readonly instance: number;
  readonly name: keyof Commands | 'start';
  readonly args: readonly unknown[];
}

const instances = new Map<number, Commands>();

async function obey({ instance, name, args }: Order): Promise<unknown> {
  if (name === 'start') {
    const started = await startInstance(args[0] as InstanceSettings);
    instances.set(instance, started);
    return started.url();
  }
  const command = instances.get(instance)?.[name] as (...args: readonly unknown[]) => unknown;
  if (name === 'stop') instances.delete(instance);
  return command(...args);
}

process.on(
  'message',
  (order: Order) => void obey(order).then((result) => process.send?.({ id: order.id, result })),
);
// The first order starts the instance: before it, nothing else keeps this process alive.
if (forOne) process.once('message', () => process.channel?.unref());
