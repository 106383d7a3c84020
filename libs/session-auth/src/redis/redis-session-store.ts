import type { Cluster, Redis } from 'ioredis';
import {
  SessionStore,
  type StoreEntry,
  type StoreLease,
  type StoreSubscriber,
} from '../contract/session-store.js';
import { clocksMs, isCluster, isConnected, run, send } from './commands.js';
import {
  decodeEntry,
  leaseEntry,
  leasePrefix,
  MAX_ENTRY_BYTES,
  TOMBSTONE,
  valueEntry,
  type DecodedEntry,
} from './entries.js';
import { checkOptions, type RedisSessionStoreOptions } from './options.js';
import { DELETE, GET, READ, RELEASE, REVOKE, SET, type Script } from './scripts.js';
import { Subscription } from './subscription.js';

/** Result of a look-up, before the check whether the holder of a lease is alive. */
type LookUp = DecodedEntry & { readonly storeTimeMs: number };

/**
 * The shared session cache in Redis (5 or later) or Valkey. Uses scripts on one key each, and one channel.
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

  async get(key: string, lease?: StoreLease): Promise<StoreEntry> {
    const found = await this.#lookUp(key, lease, '');
    if (!found.lease?.isGraceOver) return entryOf(found);
    if (!found.lease.isEndless && (await this.#isAlive(found.lease.holder))) return entryOf(found);
    if (!lease) return { kind: 'none', storeTimeMs: found.storeTimeMs };
    return entryOf(await this.#lookUp(key, lease, found.lease.bytes));
  }

  async set(key: string, value: Uint8Array, ttlMs: number): Promise<boolean> {
    return Number(await this.#run(SET, key, valueEntry(value), wholeMs(ttlMs))) === 1;
  }

  async delete(key: string): Promise<boolean> {
    return Number(await this.#run(DELETE, key)) === 1;
  }

  async releaseLease(key: string, id: string): Promise<void> {
    await this.#run(RELEASE, key, leasePrefix(id));
  }

  async keepAlive(holder: string, ttlMs: number): Promise<void> {
    await send(this.#connected(), 'set', this.#keyOf(`alive:${holder}`), '1', 'PX', wholeMs(ttlMs));
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
    const names = keys.map((key) => `revoked:${key}`);
    const groups = isCluster(this.#redis) ? names.map((name) => [name]) : [names];
    return (await Promise.all(groups.map((group) => this.#read(group)))).flat().map(revocationTimeOf);
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

  /** Looks up a key. Takes the lease if there is no entry, or only the lease `ended`. */
  async #lookUp(key: string, lease: StoreLease | undefined, ended: Buffer | ''): Promise<LookUp> {
    const [taken, takenMs] = lease ? [leaseEntry(lease), wholeMs(lease.ttlMs)] : ['', 0];
    const reply = (await this.#run(GET, key, MAX_ENTRY_BYTES, ended, taken, takenMs)) as [
      number | string,
      Buffer?,
      (number | string)?,
    ];
    const [storeTimeMs, bytes, remainingMs] = reply;
    const decoded: DecodedEntry = bytes
      ? decodeEntry(bytes, Number(remainingMs))
      : { entry: { kind: 'none' } };
    return { ...decoded, storeTimeMs: Number(storeTimeMs) };
  }

  async #isAlive(holder: string): Promise<boolean> {
    const [heartbeat] = await this.#read([`alive:${holder}`]);
    return heartbeat !== null;
  }

  #run(script: Script, key: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    return run(this.#connected(), script, [this.#keyOf(key)], ...args);
  }

  async #read(keys: readonly string[]): Promise<readonly (Buffer | null)[]> {
    return (await run(
      this.#connected(),
      READ,
      keys.map((key) => this.#keyOf(key)),
    )) as (Buffer | null)[];
  }

  #connected(): Redis | Cluster {
    if (!isConnected(this.#redis)) throw new Error('Redis is not connected');
    return this.#redis;
  }
}

function entryOf({ entry, storeTimeMs }: LookUp): StoreEntry {
  return { ...entry, storeTimeMs };
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
