import type { Cluster, Redis } from 'ioredis';
import { InvalidConfigurationError } from '../contract/errors.js';
import { SessionStore, type SessionStoreListener, type StoredSession } from '../contract/session-store.js';
import { CLAIM, DROP, END, KEEP, RELEASE, TAKE, VALUE, type Script } from './scripts.js';
import { Subscription } from './subscription.js';

/** Options of {@link RedisSessionStore}. */
export interface RedisSessionStoreOptions {
  /**
   * The caller's client of Redis or Valkey: single, Sentinel or Cluster, with TLS and credentials as you like. It is not closed here.
   * Announcements are heard on a connection of their own, which is made as this client's are.
   */
  readonly redis: Redis | Cluster;
  /** See `SessionStore.secret`. @default derived from `apiKey` */
  readonly secret?: string | readonly string[];
  /** Milliseconds that one call may take. 1 to 1000. @default 50 */
  readonly timeoutMs?: number;
  /** Begins all keys, and names the channel. Applications that are to share nothing need different ones. @default 'session-auth' */
  readonly prefix?: string;
}

const OPTIONS = ['redis', 'secret', 'timeoutMs', 'prefix'];
const DEFAULT_PREFIX = 'session-auth';
/** A sealed record of 64 KiB, and some. */
const MAX_VALUE_BYTES = 131_072;
const CONNECTED: ReadonlySet<string> = new Set(['ready', 'wait']);

/** The shared memory of sessions in Redis (5 or later) or Valkey: scripts on one key each, and one channel. */
export class RedisSessionStore extends SessionStore {
  override readonly secret: string | readonly string[] | undefined;
  override readonly timeoutMs: number | undefined;
  readonly #redis: Redis | Cluster;
  readonly #prefix: string;

  /** @throws InvalidConfigurationError naming the option */
  constructor(options: RedisSessionStoreOptions) {
    super();
    const { redis, secret, timeoutMs, prefix = DEFAULT_PREFIX } = options;
    const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
    if (unknown !== undefined)
      throw new InvalidConfigurationError(`RedisSessionStore: ${unknown} is not an option. Known are ${OPTIONS.join(', ')}.`);
    if (typeof (redis as Partial<Redis> | undefined)?.callBuffer !== 'function')
      throw new InvalidConfigurationError(
        "RedisSessionStore: redis must be a client of 'ioredis'. Give it new Redis(url) or new Cluster(nodes).",
      );
    if (typeof prefix !== 'string' || prefix === '')
      throw new InvalidConfigurationError('RedisSessionStore: prefix must be a string that is not empty. Set one, or leave it out.');
    this.#redis = redis;
    this.#prefix = prefix;
    this.secret = secret;
    this.timeoutMs = timeoutMs;
  }

  async take(key: string, claimMs: number): Promise<StoredSession> {
    const stored = (await this.#run(TAKE, key, claimMs, MAX_VALUE_BYTES)) as [Buffer, number] | null;
    if (stored === null) return { state: 'free' };
    const [bytes, remainingMs] = stored;
    const kind = String.fromCharCode(bytes[0] ?? 0);
    if (kind === END) return { state: 'ended' };
    return kind === CLAIM ? { state: 'claimed' } : { state: 'kept', value: bytes.subarray(1), remainingMs };
  }

  async keep(key: string, value: Uint8Array, forMs: number): Promise<boolean> {
    return (await this.#run(KEEP, key, Buffer.concat([Buffer.from(VALUE), value]), forMs)) === 1;
  }

  async end(key: string, forMs: number): Promise<void> {
    await this.#connected().set(this.#keyOf(key), END, 'PX', forMs);
  }

  async release(key: string): Promise<void> {
    await this.#run(RELEASE, key);
  }

  async drop(key: string): Promise<void> {
    await this.#run(DROP, key);
  }

  async pardon(key: string): Promise<void> {
    await this.#connected().del(this.#keyOf(key));
  }

  async announce(message: Uint8Array): Promise<void> {
    await this.#connected().publish(this.#channel, Buffer.from(message));
  }

  listen(listener: SessionStoreListener): () => Promise<void> {
    const subscription = new Subscription(this.#redis, this.#channel, listener);
    subscription.start();
    return () => subscription.stop();
  }

  get #channel(): string {
    return `${this.#prefix}:news`;
  }

  #keyOf(key: string): string {
    return `${this.#prefix}:${key}`;
  }

  async #run(script: Script, key: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    const redis = this.#connected();
    try {
      return await redis.callBuffer('evalsha', [script.sha, 1, this.#keyOf(key), ...args]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return redis.callBuffer('eval', [script.text, 1, this.#keyOf(key), ...args]);
    }
  }

  /** A client without a connection would keep commands until it has one, for as long as that takes. */
  #connected(): Redis | Cluster {
    if (!CONNECTED.has(this.#redis.status)) throw new Error('Redis is not connected');
    return this.#redis;
  }
}
