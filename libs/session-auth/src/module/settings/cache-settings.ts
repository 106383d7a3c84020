import type { CacheSettings } from '../../verifier/memory-settings.js';
import { integerOption, knownOptions, invalidOption } from './option-checks.js';
import type { SessionAuthCacheOptions } from '../options.js';

const OPTIONS = ['ttlMs', 'negativeTtlMs', 'maxEntries', 'refreshAheadMs', 'staleIfErrorMs', 'store'];
const MAX_TTL_MS = 300_000;

/** Checks the cache options; `undefined` when the cache is off. @throws InvalidConfigurationError naming the first that is wrong. */
export function readCacheSettings(cache: false | SessionAuthCacheOptions = false): CacheSettings | undefined {
  if (cache === false) return undefined;
  knownOptions('cache', cache, OPTIONS);
  if ((cache as Partial<SessionAuthCacheOptions>).ttlMs === undefined) {
    invalidOption('cache.ttlMs', 'is missing', 'Say how many milliseconds a session that was ended elsewhere may still work here');
  }
  const { ttlMs, negativeTtlMs, maxEntries, refreshAheadMs, staleIfErrorMs } = cache;
  const ttl = integerOption('cache.ttlMs', ttlMs, { min: 1, max: MAX_TTL_MS, fallback: MAX_TTL_MS });
  return {
    ttlMs: ttl,
    negativeTtlMs: integerOption('cache.negativeTtlMs', negativeTtlMs, { min: 0, max: MAX_TTL_MS, fallback: 5_000 }),
    maxEntries: integerOption('cache.maxEntries', maxEntries, { min: 1, max: 10_000_000, fallback: 10_000 }),
    refreshAheadMs: integerOption('cache.refreshAheadMs', refreshAheadMs, { min: 0, max: ttl - 1, fallback: 0 }),
    staleIfErrorMs: integerOption('cache.staleIfErrorMs', staleIfErrorMs, { min: 0, max: 86_400_000, fallback: 0 }),
  };
}
