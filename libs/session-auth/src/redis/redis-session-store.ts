import type { Cluster, Redis } from 'ioredis';
import { SessionStore, type StoreEntry, type StoreSubscriber } from '../contract/session-store.js';
import { clocksMs, isCluster, isConnected, run, send } from './commands.js';
import { checkOptions, type RedisSessionStoreOptions } from './options.js';
import { DELETE, GET, READ, REVOKE, type Script, SET, TOMBSTONE, VALUE } from './scripts.js';
import { Subscription } from './subscription.js';

/**
 * The shared session cache in Redis (5 or later) or Valkey. Each script uses one key, and messages one channel.
 *
 * @example
 * ```ts
 * const store = new RedisSessionStore({ redis: new Redis('redis://localhost') });
 * SessionAuthModule.forRoot({ baseUrl: 'https://…', apiKey: '…', cache: { ttlMs: 30_000, store } });
 * ```
 */
export class RedisSessionStore extends SessionStore {
  override readonly secret: string | readonly string[] | undefined;
  override readonly timeoutMs: number | undefined;
  readonly #redis: Redis | Cluster;
  readonly #prefix: string;

  /** @throws InvalidConfigurationError naming the option */
  constructor(options: RedisSessionStoreOptions) {
    super();
    this.#prefix = checkOptions(options);
    this.#redis = options.redis;
    this.secret = options.secret;
    this.timeoutMs = options.timeoutMs;
  }

  async get(key: string): Promise<StoreEntry> {
    const reply = (await this.#run(GET, key)) as [number | string, Buffer?, (number | string)?];
    const [storeTimeMs, remainingMs] = [Number(reply[0]), Number(reply[2])];
    const entry = reply[1];
    switch (entry?.toString('latin1', 0, 1)) {
      case VALUE:
        // Below 0 if it never expires: no instance has set it.
        return {
          kind: 'value',
          value: entry.subarray(1),
          remainingMs: Math.max(0, remainingMs),
          storeTimeMs,
        };
      case TOMBSTONE:
        return { kind: 'tombstone', storeTimeMs };
      default:
        return { kind: 'none', storeTimeMs };
    }
  }

  async set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    const entry = Buffer.concat([Buffer.from(VALUE), value]);
    return Number(await this.#run(SET, key, entry, wholeMs(ttlMs))) === 1;
  }

  async delete(key: string): Promise<boolean> {
    return Number(await this.#run(DELETE, key)) === 1;
  }

  async setTombstone(key: string, ttlMs: number): Promise<void> {
    const redis = this.#connected();
    try {
      await send(redis, 'set', this.#keyOf(key), TOMBSTONE, 'PX', wholeMs(ttlMs));
    } catch (error) {
      // A server that is out of memory still deletes.
      await send(redis, 'del', this.#keyOf(key));
      throw error;
    }
  }

  async clearTombstone(key: string): Promise<void> {
    await send(this.#connected(), 'del', this.#keyOf(key));
  }

  async setRevocation(key: string, ttlMs: number): Promise<void> {
    const record = (fromMs: number): Promise<unknown> =>
      this.#run(REVOKE, `revoked:${key}`, wholeMs(ttlMs), fromMs);
    const recorded = record(0);
    // Each node of a Cluster has its own clock, and look-ups on all nodes are compared with this record.
    const raised = clocksMs(this.#redis).map(async (clock) => {
      const timeMs = await clock;
      if (timeMs > Number(await recorded)) await record(timeMs);
    });
    await Promise.all([recorded, ...raised]);
  }

  async getRevocations(keys: readonly string[]): Promise<readonly (number | undefined)[]> {
    if (keys.length === 0) return [];
    const redis = this.#connected();
    const names = keys.map((key) => this.#keyOf(`revoked:${key}`));
    const groups = isCluster(redis) ? names.map((name) => [name]) : [names];
    const records = await Promise.all(groups.map((group) => run(redis, READ, group)));
    return (records.flat() as (Buffer | null)[]).map(revocationTimeOf);
  }

  async publish(message: Uint8Array): Promise<void> {
    await send(this.#connected(), 'publish', this.#channel, Buffer.from(message));
  }

  subscribe(subscriber: StoreSubscriber): () => Promise<void> {
    const subscription = new Subscription(this.#redis, this.#channel, subscriber);
    return () => subscription.stop();
  }

  get #channel(): string {
    return this.#keyOf('messages');
  }

  #keyOf(key: string): string {
    return `${this.#prefix}:${key}`;
  }

  #run(script: Script, key: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    return run(this.#connected(), script, [this.#keyOf(key)], ...args);
  }

  #connected(): Redis | Cluster {
    if (!isConnected(this.#redis)) throw new Error('Redis is not connected');
    return this.#redis;
  }
}

/** Redis accepts whole milliseconds, at least 1. */
function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}

/**
 * Parses the time of a revocation. @throws Error if it is invalid, because it is then unknown whether the
 * session was revoked
 */
function revocationTimeOf(record: Buffer | null): number | undefined {
  if (record === null) return undefined;
  const timeMs = Number(record.toString('latin1') || NaN);
  if (!Number.isSafeInteger(timeMs)) throw new Error('The session store has an unreadable revocation');
  return timeMs;
}
