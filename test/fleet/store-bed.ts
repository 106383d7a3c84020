import { Redis, type RedisOptions } from 'ioredis';
import { RedisSessionStore, type RedisSessionStoreOptions } from 'nestjs-session-auth/redis';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { startSessionService, type ScriptedSessionService } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { startApp, type Platform, type RunningApp } from '../support/platforms.js';
import { redisClient, RedisServer } from '../support/redis.js';
import { sampleApp } from '../support/sample-app.js';
import { until } from '../support/until.js';

/** An application that uses the store. */
export interface StoreApp extends RunningApp {
  readonly log: CapturedLog;
  /** The application's own client. */
  readonly redis: Redis;
}

/** A session in the store, and the application that put it there. */
export interface KeptSession {
  readonly app: StoreApp;
  readonly key: string;
  readonly value: Buffer;
}

/** The warning of an application whose store fails. */
export const STORE_WARNING = 'session store unavailable';
/** How long a check may take, as the machine may stand still for seconds. */
const CHECK_MS = 30_000;
const KEPT_WITHIN_MS = 60_000;
const SOON_MS = 1_000;

/** How an application differs from the others. */
export interface StoreAppSetup {
  readonly redis?: Pick<RedisOptions, 'port'>;
  readonly store?: Partial<RedisSessionStoreOptions>;
  readonly options?: Partial<SessionAuthOptions>;
}

/**
 * A Redis, a session service and applications in this process, for tests of one application and its store.
 */
export class StoreBed {
  readonly #closers: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly platform: Platform,
    readonly server: RedisServer,
    readonly service: ScriptedSessionService,
    /** A client that may do everything. */
    readonly redis: Redis,
  ) {}

  static async during(platform: Platform, act: (bed: StoreBed) => Promise<void>): Promise<void> {
    const server = await RedisServer.start();
    const redis = redisClient(server.port);
    const bed = new StoreBed(platform, server, await startSessionService(), redis);
    try {
      await act(bed);
    } finally {
      for (const close of bed.#closers.reverse()) await close();
      redis.disconnect();
      await bed.service.close();
      await server.close();
    }
  }

  /** How often the service was asked about sessions. */
  get asked(): number {
    return this.service.callsTo('user_details');
  }

  /** Starts an application with an empty cache. */
  async app({ redis: place, store, options }: StoreAppSetup = {}): Promise<StoreApp> {
    const redis = new Redis({ port: this.server.port, host: '127.0.0.1', ...place });
    redis.on('error', () => undefined);
    const log = new CapturedLog();
    const cache = { ttlMs: 60_000, store: new RedisSessionStore({ redis, ...store }) };
    const running = await startApp(
      this.platform,
      sampleApp({ baseUrl: this.service.url, options: { timeoutMs: CHECK_MS, ...options, cache } }),
      { logger: log },
    );
    this.keep({ close: () => running.close().finally(() => redis.disconnect()) });
    return { ...running, log, redis };
  }

  /** The same, when its client can be used. */
  async connectedApp(setup?: StoreAppSetup): Promise<StoreApp> {
    const app = await this.app(setup);
    await until('the client is connected', () => app.redis.status === 'ready');
    return app;
  }

  /**
   * Has an application keep a session. An application whose store answered late keeps nothing for a while,
   * and would say nothing of a later failure: then another application keeps it.
   */
  async kept(token: string, setup?: StoreAppSetup, authIv?: string): Promise<KeptSession> {
    const before = new Set(await this.redis.keys('*'));
    for (const giveUpAt = performance.now() + KEPT_WITHIN_MS; performance.now() < giveUpAt;) {
      const app = await this.connectedApp(setup);
      const { status } = await app.get('/me', token, authIv === undefined ? {} : { 'x-auth-iv': authIv });
      if (status !== 200) throw new Error(`The session was not accepted: ${status}`);
      const entry = await this.#newValue(before);
      if (entry && app.log.having('warn', STORE_WARNING).length === 0) return { app, ...entry };
    }
    throw new Error(`Not within ${KEPT_WITHIN_MS} ms: a session is kept`);
  }

  /** The value under a new key, if there is one soon. */
  async #newValue(before: ReadonlySet<string>): Promise<{ key: string; value: Buffer } | undefined> {
    for (const giveUpAt = performance.now() + SOON_MS; performance.now() < giveUpAt;) {
      for (const key of (await this.redis.keys('*')).filter((one) => !before.has(one))) {
        const value = await this.redis.getBuffer(key);
        if (value?.subarray(0, 1).toString() === 'V') return { key, value };
      }
    }
    return undefined;
  }

  keep<Kept extends { close(): Promise<unknown> }>(kept: Kept): Kept {
    this.#closers.push(() => kept.close());
    return kept;
  }
}
