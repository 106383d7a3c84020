import type { ApiKey } from '../../client/session-requests.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { SessionStore } from '../../contract/session-store.js';
import type { CacheSettings } from '../../verifier/cache-entry.js';
import { refreshPauseMs } from '../../verifier/refresh-throttle.js';
import type { SharedTierSettings } from '../../verifier/shared-tier.js';
import type { SessionAuthCacheOptions } from '../options/options.js';
import {
  integerOption,
  invalidOption,
  isGroup,
  rejectUnknownOptions,
  requiredInteger,
} from './option-checks.js';
import { DEFAULTS } from './defaults.js';

const OPTIONS = ['ttlMs', 'negativeTtlMs', 'maxEntries', 'refreshAheadMs', 'staleIfErrorMs', 'store'];
const MAX_TTL_MS = 300_000;
/** Longest `timeoutMs` of any instance: an answer may be stored so long after its call was sent. */
const MAX_TIMEOUT_MS = 300_000;

/**
 * Validates the cache options. Returns `undefined` if the cache is off. @throws InvalidConfigurationError
 * naming the first invalid option
 */
export function readCacheSettings(cache: false | SessionAuthCacheOptions = false): CacheSettings | undefined {
  if (cache === false) return undefined;
  rejectMissingTtl(cache);
  const { ttlMs, negativeTtlMs, maxEntries, refreshAheadMs, staleIfErrorMs } = cache;
  const ttl = requiredInteger('cache.ttlMs', ttlMs, { min: 1, max: MAX_TTL_MS });
  return {
    ttlMs: ttl,
    negativeTtlMs: integerOption('cache.negativeTtlMs', negativeTtlMs, {
      min: 0,
      max: MAX_TTL_MS,
      fallback: DEFAULTS.cache.negativeTtlMs,
    }),
    maxEntries: integerOption('cache.maxEntries', maxEntries, {
      min: 1,
      max: 10_000_000,
      fallback: DEFAULTS.cache.maxEntries,
    }),
    refreshAheadMs: integerOption('cache.refreshAheadMs', refreshAheadMs, {
      min: 0,
      max: ttl - 1,
      fallback: DEFAULTS.cache.refreshAheadMs,
    }),
    staleIfErrorMs: integerOption('cache.staleIfErrorMs', staleIfErrorMs, {
      min: 0,
      max: 86_400_000,
      fallback: DEFAULTS.cache.staleIfErrorMs,
    }),
  };
}

function rejectMissingTtl(cache: unknown): void {
  if (!isGroup(cache)) {
    invalidOption(
      'cache',
      'must be an object with ttlMs, or false',
      'Write cache: { ttlMs: 30_000 } to cache sessions for 30 seconds',
    );
  }
  rejectUnknownOptions('cache', cache, OPTIONS);
  if ((cache as Partial<SessionAuthCacheOptions>).ttlMs === undefined) {
    invalidOption(
      'cache.ttlMs',
      'is missing',
      'Set how many milliseconds a session that ended elsewhere may still work here',
    );
  }
}

/** Other settings from which those of the shared tier are derived. */
export interface StoreContext {
  readonly authority: string;
  readonly cache: CacheSettings;
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly timeoutMs: number;
}

const MIN_SECRET_LENGTH = 16;
const MAX_SECRET_LENGTH = 1_024;
/** Minimum grace period, in milliseconds. A process that is busy for less is not considered crashed. */
const MIN_GRACE_MS = 10;

/**
 * Validates the store, and derives the settings of the shared tier. @throws InvalidConfigurationError naming
 * the invalid option
 */
export function readStoreSettings(
  store: unknown,
  { cache, authority, baseUrl, apiKey, timeoutMs }: StoreContext,
): SharedTierSettings {
  if (!SessionStore.isOne(store)) {
    return invalidOption(
      'cache.store',
      'must be a SessionStore',
      "Give it new RedisSessionStore({ redis }) of 'nestjs-session-auth/redis'",
    );
  }
  const { ttlMs, staleIfErrorMs, refreshAheadMs } = cache;
  const storeTimeoutMs = readStoreTimeout(store.timeoutMs);
  return {
    store,
    secrets: readSecrets(store.secret, apiKey),
    scope: scopeOf(authority, baseUrl),
    timeoutMs: storeTimeoutMs,
    ttlMs,
    tombstoneMs: MAX_TTL_MS + staleIfErrorMs + MAX_TIMEOUT_MS,
    leaseMs: timeoutMs,
    graceMs: Math.max(MIN_GRACE_MS, storeTimeoutMs),
    refreshAheadMs,
    refreshPauseMs: Math.ceil(refreshPauseMs(refreshAheadMs)),
  };
}

/**
 * Registrations with one secret and one `baseUrl` may still have different application keys: each has entries
 * of its own. A name has no space, so that no two registrations have one scope.
 */
function scopeOf(authority: string, baseUrl: string): string {
  return authority === DEFAULT_AUTHORITY ? baseUrl : `${authority} ${baseUrl}`;
}

function readStoreTimeout(timeoutMs: unknown): number {
  return integerOption('cache.store.timeoutMs', timeoutMs, {
    min: 1,
    max: 1_000,
    fallback: DEFAULTS.store.timeoutMs,
  });
}

function readSecrets(secret: SessionStore['secret'], apiKey: ApiKey): readonly [string, ...string[]] {
  if (secret === undefined) {
    if (typeof apiKey === 'string') return [apiKey];
    invalidOption(
      'cache.store.secret',
      'is missing',
      'With apiKey as a function, every instance needs one secret that stays when the key rotates',
    );
  }
  const [first, ...others] = [secret].flat() as unknown[];
  if (isSecret(first) && others.every(isSecret)) return [first, ...others];
  return invalidOption(
    'cache.store.secret',
    'must be a string, or a list of strings',
    `Give it ${MIN_SECRET_LENGTH} to ${MAX_SECRET_LENGTH} random characters, the same on every instance`,
  );
}

function isSecret(secret: unknown): secret is string {
  return (
    typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH && secret.length <= MAX_SECRET_LENGTH
  );
}
