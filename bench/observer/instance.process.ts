import 'reflect-metadata';
import type { Server } from 'node:http';
import {
  Controller,
  Get,
  Module,
  Sse,
  UseGuards,
  type INestApplication,
  type MessageEvent,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import {
  CurrentUser,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  type UserRecord,
} from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { interval, map, startWith, type Observable } from 'rxjs';
import { serve } from './child-serve.js';
import { nowMs, type Span } from './clock.js';
import { API_KEY, CACHE, SOCKET_TIMEOUT_MS, TIMEOUT_MS, WHILE_OPEN, type Sabotage } from './settings.js';
import { StallLog } from './stall-log.js';

/**
 * Event of a connection to Redis. `ready` and `closed`: the client of the application; `subscribed` and
 * `interrupted`: the subscription.
 */
export interface LinkEvent {
  readonly atMs: number;
  readonly what: 'ready' | 'closed' | 'subscribed' | 'interrupted';
}

/** Ways to revoke or evict sessions. */
export type EndKind = 'signOut' | 'forget' | 'forgetUser' | 'forgetAll';

/** Result of an action. */
export interface Outcome {
  readonly calledAtMs: number;
  readonly settledAtMs: number;
  /** `done`, or the code of the error. */
  readonly outcome: string;
}

/** Start options of an instance. */
export interface InstanceOrder {
  readonly platform: 'Express' | 'Fastify';
  readonly baseUrl: string;
  /** `undefined`: the instance has no store, for comparison. */
  readonly redisPort?: number | undefined;
  readonly sabotage?: Sabotage | undefined;
}

const KEEP_ALIVE_MS = 600_000;
const PART_MS = 20;

type Subscriber = Parameters<RedisSessionStore['subscribe']>[0];

const stalls = new StallLog();
const events: LinkEvent[] = [];
const note = (what: LinkEvent['what']) => (): void => void events.push({ atMs: nowMs(), what });
let sabotage: Sabotage | undefined;
let app: INestApplication | undefined;
let redis: Redis | undefined;
let replies = 0;
let actions = 0;

/** Records when the store reports to the library that messages arrive, and that they do not. */
class NotedStore extends RedisSessionStore {
  override subscribe(subscriber: Subscriber): () => Promise<void> {
    return super.subscribe({
      message: (bytes) => {
        if (sabotage !== 'deaf') subscriber.message(bytes);
      },
      subscribed: () => {
        note('subscribed')();
        subscriber.subscribed();
      },
      interrupted: (reason) => {
        note('interrupted')();
        subscriber.interrupted(reason);
      },
    });
  }
}

@Controller()
class MeController {
  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() { username = '' }: UserRecord): { username: string } {
    replies += 1;
    return { username: sabotage === 'user' && replies % 50 === 0 ? 'user-of-another-session' : username };
  }

  /** Each part says when it was written, and for whom. */
  @Sse('parts')
  @UseGuards(SessionAuthGuard)
  parts(@CurrentUser() { username = '' }: UserRecord): Observable<MessageEvent> {
    return interval(PART_MS).pipe(
      startWith(-1),
      map(() => ({ data: { atMs: nowMs(), username } })),
    );
  }
}

@Module({})
class InstanceModule {}

function storeAt(port: number): RedisSessionStore {
  redis = new Redis({ port, host: '127.0.0.1', socketTimeout: SOCKET_TIMEOUT_MS });
  redis.on('error', () => undefined);
  redis.on('ready', note('ready')).on('close', note('closed'));
  return new NotedStore({ redis });
}

async function start({ platform, baseUrl, redisPort, ...order }: InstanceOrder): Promise<string> {
  sabotage = order.sabotage;
  const store = redisPort === undefined ? undefined : { store: storeAt(redisPort) };
  const cache = { ...CACHE, ...(sabotage === 'ttl' && { ttlMs: CACHE.ttlMs * 3 }), ...store };
  const session = SessionAuthModule.forRoot({
    baseUrl,
    apiKey: API_KEY,
    timeoutMs: TIMEOUT_MS,
    cache,
    whileOpen: WHILE_OPEN,
  });
  const root = { module: InstanceModule, imports: [session], controllers: [MeController] };
  app = await NestFactory.create(root, platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(), {
    logger: false,
  });
  // A connection that the server closes as a request arrives on it says nothing about the library.
  (app.getHttpServer() as Server).keepAliveTimeout = KEEP_ALIVE_MS;
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

async function timed(work: () => Promise<unknown>): Promise<Outcome> {
  const calledAtMs = nowMs();
  const outcome = await work().then(
    () => 'done',
    (error: unknown) => String((error as { code?: unknown }).code ?? error),
  );
  return { calledAtMs, settledAtMs: nowMs(), outcome };
}

function sessions(): SessionAuthService {
  if (!app) throw new Error('The instance is not started');
  return app.get(SessionAuthService);
}

const handlers = {
  /** Starts the application; returns its URL. */
  start,
  /** Revokes or evicts a session (`subject` is its token), those of a user (its user name), or all. */
  end: ({ kind, subject }: { kind: EndKind; subject: string }): Promise<Outcome> => {
    actions += 1;
    if (sabotage === 'settle' && actions % 2 === 0) return timed(() => Promise.resolve());
    return timed(() => (kind === 'forgetAll' ? sessions().forgetAll() : sessions()[kind](subject)));
  },
  signIn: (username: string): Promise<Outcome> =>
    timed(() => sessions().signIn({ username, password: 'password' })),
  /** Returns the events since the last call. */
  take: (): { events: LinkEvent[]; stalls: Span[] } => ({ events: events.splice(0), stalls: stalls.take() }),
  stop: async (): Promise<void> => {
    await app?.close();
    redis?.disconnect();
  },
};

export type InstanceApi = typeof handlers;
serve(handlers);
