import type { Cluster, Redis } from 'ioredis';
import { InvalidConfigurationError } from '../contract/errors.js';

/** Options of `RedisSessionStore`. */
export interface RedisSessionStoreOptions {
  /**
   * The application's client of Redis or Valkey, for a single server, Sentinel or Cluster. The store neither
   * changes nor closes it, and receives messages on a separate connection with the same settings.
   */
  readonly redis: Redis | Cluster;
  /**
   * Secret that seals the values, 16 to 1024 characters, or a list for a rotation: see `SessionStore.secret`.
   * @default derived from `apiKey`
   */
  readonly secret?: string | readonly string[];
  /** Milliseconds that one call to the store may take. 1 to 1000. @default 50 */
  readonly timeoutMs?: number;
  /**
   * Prefix of all keys (`prefix:…`), and of the channel `prefix:messages`. Applications that must not share
   * entries need different prefixes. @default 'session-auth'
   */
  readonly prefix?: string;
}

const OPTIONS = ['redis', 'secret', 'timeoutMs', 'prefix'];
const DEFAULT_PREFIX = 'session-auth';

/** Validates the options. Returns the prefix. @throws InvalidConfigurationError naming the option */
export function checkOptions(options: RedisSessionStoreOptions): string {
  const { redis, prefix = DEFAULT_PREFIX } = options;
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new InvalidConfigurationError(
      `RedisSessionStore: ${unknown} is not an option. Valid options: ${OPTIONS.join(', ')}.`,
    );
  if (typeof (redis as Partial<Redis> | undefined)?.pipeline !== 'function')
    throw new InvalidConfigurationError(
      "RedisSessionStore: redis must be a client of 'ioredis'. Pass new Redis(url) or new Cluster(nodes).",
    );
  if (typeof prefix !== 'string' || prefix === '')
    throw new InvalidConfigurationError(
      'RedisSessionStore: prefix must be a string that is not empty. Set one, or leave it out.',
    );
  return prefix;
}
