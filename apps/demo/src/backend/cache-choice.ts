/** How the backend remembers sessions. A change starts the backend anew, with an empty memory, while requests go on. */
export interface CacheChoice {
  /** Seconds for which a session is remembered; 0: no memory. */
  readonly ttlSeconds: (typeof TTL_SECONDS)[number];
  /** Asks again in the background before a session lapses. */
  readonly refreshAhead: boolean;
  /** Lets a lapsed session in for a minute while the service is unavailable. */
  readonly staleIfError: boolean;
}
export const TTL_SECONDS = [0, 5, 30, 300] as const;

/** Every request asks the service. */
export const NO_CACHE: CacheChoice = { ttlSeconds: 0, refreshAhead: false, staleIfError: false };
