import { type SessionAuthCacheOptions } from 'nestjs-session-auth';
import { type CacheChoice } from './cache-choice.js';

const STALE_IF_ERROR_MS = 60_000;

/** Returns the library's options for a choice on the page. */
export function cacheOptionsOf({
  ttlSeconds,
  refreshAhead,
  staleIfError,
}: CacheChoice): SessionAuthCacheOptions | false {
  if (ttlSeconds === 0) return false;
  const ttlMs = ttlSeconds * 1_000;
  return {
    ttlMs,
    refreshAheadMs: refreshAhead ? ttlMs / 2 : 0,
    staleIfErrorMs: staleIfError ? STALE_IF_ERROR_MS : 0,
  };
}
