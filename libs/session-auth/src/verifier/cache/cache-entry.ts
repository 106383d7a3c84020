import type { SessionKey, SessionKeys } from '../../contract/session-identity.js';

/** A user whose session was confirmed with an IV. Without an IV, the user itself is the entry, which saves an object per session. */
export class UserWithIv<User> {
  constructor(
    readonly sessionKey: SessionKey,
    readonly user: User,
  ) {}
}

/** An entry of the session cache. */
export type CacheEntry<User> = User | UserWithIv<User>;

/** Returns the entry of a session that was confirmed. */
export function entryOf<User>(user: User, { tokenKey, sessionKey }: SessionKeys): CacheEntry<User> {
  return sessionKey === tokenKey ? user : new UserWithIv(sessionKey, user);
}

/** Returns the user of an entry, or `undefined` if it belongs to another IV. */
export function userOf<User>(entry: CacheEntry<User> | undefined, { tokenKey, sessionKey }: SessionKeys): User | undefined {
  if (!(entry instanceof UserWithIv)) return sessionKey === tokenKey ? entry : undefined;
  return entry.sessionKey === sessionKey ? entry.user : undefined;
}

/** How long and how much is remembered. Milliseconds on a monotonic clock. */
export interface CacheSettings {
  /** How long a session is answered from memory; also how long one that was ended elsewhere may still work here. */
  readonly ttlMs: number;
  /** How long a refusal is answered from memory. */
  readonly negativeTtlMs: number;
  /** Sessions remembered at most; as many refusals and as many signed-out tokens beside them. */
  readonly maxEntries: number;
  /** How long before it lapses a session in use is asked about again. */
  readonly refreshAheadMs: number;
  /** How long after it lapsed a session is still good while the service is unavailable. */
  readonly staleIfErrorMs: number;
}

/** How much older an entry counts as, so that it expires after `cacheForMs` instead of its whole lifetime. */
export function shortenedBy(cacheForMs: number | undefined, lifetimeMs: number): number {
  return cacheForMs === undefined ? 0 : Math.max(0, lifetimeMs - cacheForMs);
}
