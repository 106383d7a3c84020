/**
 * The session cache of the backend. A change restarts the backend with an empty cache, without interrupting
 * requests.
 */
export interface CacheChoice {
  /** Seconds until an entry expires; 0: the cache is off. */
  readonly ttlSeconds: (typeof TTL_SECONDS)[number];
  /** Calls the session service in the background before an entry expires. */
  readonly refreshAhead: boolean;
  /** Uses an expired entry for one more minute while the session service is unavailable. */
  readonly staleIfError: boolean;
}

/** The lifetimes to choose from. */
export const TTL_SECONDS = [0, 5, 30, 300] as const;

/** The cache is off: every check calls the session service. */
export const NO_CACHE: CacheChoice = { ttlSeconds: 0, refreshAhead: false, staleIfError: false };
