import type { SessionKey, SessionKeys } from '../contract/session-identity.js';

/**
 * A user whose session was authenticated with an IV. Without an IV, the user itself is the entry, which saves
 * an object per session.
 */
export class UserWithIv<User> {
  constructor(
    readonly sessionKey: SessionKey,
    readonly user: User,
  ) {}
}

/** An entry of the session cache. */
export type CacheEntry<User> = User | UserWithIv<User>;

/** Returns the entry of an authenticated session. */
export function entryOf<User>(user: User, { tokenKey, sessionKey }: SessionKeys): CacheEntry<User> {
  return sessionKey === tokenKey ? user : new UserWithIv(sessionKey, user);
}

/** Returns the user of an entry, or `undefined` if it belongs to another IV. */
export function userOf<User>(
  entry: CacheEntry<User> | undefined,
  { tokenKey, sessionKey }: SessionKeys,
): User | undefined {
  if (!(entry instanceof UserWithIv)) return sessionKey === tokenKey ? entry : undefined;
  return entry.sessionKey === sessionKey ? entry.user : undefined;
}

/** Lifetimes and size of the session cache. Times are milliseconds of a monotonic clock. */
export interface CacheSettings {
  /**
   * Lifetime of a session in the cache; also the longest time that a session revoked elsewhere may still work
   * here.
   */
  readonly ttlMs: number;
  /** Lifetime of a refusal in the cache. */
  readonly negativeTtlMs: number;
  /** Maximum number of cached sessions; also, separately, of refusals and of tombstones. */
  readonly maxEntries: number;
  /** Time before it expires at which a session in use is refreshed. */
  readonly refreshAheadMs: number;
  /** Time after it expired during which a session is served while the service is unavailable. */
  readonly staleIfErrorMs: number;
}

/**
 * Returns the milliseconds to add to the age of an entry, so that it expires after `cacheForMs` instead of
 * its whole lifetime.
 */
export function shortenedBy(cacheForMs: number | undefined, lifetimeMs: number): number {
  return cacheForMs === undefined ? 0 : Math.max(0, lifetimeMs - cacheForMs);
}
