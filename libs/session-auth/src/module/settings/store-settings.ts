import type { ApiKey } from '../../client/api-key.js';
import { SessionStore } from '../../contract/session-store.js';
import type { CacheSettings } from '../../verifier/memory-settings.js';
import { refreshPauseMs } from '../../verifier/refresh-pauses.js';
import type { SharedTierSettings } from '../../verifier/shared/shared-tier-settings.js';
import { integerOption, invalidOption } from './option-checks.js';

/** What else decides how a store is used. */
export interface StoreSurroundings {
  readonly cache: CacheSettings;
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly timeoutMs: number;
}

const MIN_SECRET_LENGTH = 16;
const MAX_SECRET_LENGTH = 1_024;
const DEFAULT_TIMEOUT_MS = 50;
/** A process that is busy for less than this is not taken for a crashed one. */
const MIN_GRACE_MS = 10;

/** Checks the store. @throws InvalidConfigurationError naming what is wrong with it. */
export function readStoreSettings(store: unknown, { cache: memory, baseUrl, apiKey, timeoutMs }: StoreSurroundings): SharedTierSettings {
  if (!SessionStore.isOne(store)) {
    return invalidOption(
      'cache.store',
      'must be a SessionStore',
      "Give it new RedisSessionStore({ redis }) of 'nestjs-session-auth/redis'",
    );
  }
  const { ttlMs, staleIfErrorMs, refreshAheadMs } = memory;
  const storeTimeoutMs = integerOption('cache.store.timeoutMs', store.timeoutMs, { min: 1, max: 1_000, fallback: DEFAULT_TIMEOUT_MS });
  return {
    store,
    secrets: readSecrets(store.secret, apiKey),
    scope: baseUrl,
    timeoutMs: storeTimeoutMs,
    ttlMs,
    tombstoneMs: ttlMs + staleIfErrorMs + timeoutMs,
    leaseMs: timeoutMs,
    graceMs: Math.max(MIN_GRACE_MS, storeTimeoutMs),
    refreshAheadMs,
    refreshPauseMs: Math.ceil(refreshPauseMs(refreshAheadMs)),
  };
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
  return typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH && secret.length <= MAX_SECRET_LENGTH;
}
