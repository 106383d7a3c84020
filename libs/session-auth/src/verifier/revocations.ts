import { someUsername } from '../contract/record/usernames.js';
import type { TokenKey } from '../contract/session-identity.js';

const MAX_USERS = 10_000;
const MAX_TOKENS = 10_000;
/**
 * Minimum time that a revocation is kept, in milliseconds: no check takes longer. A check in flight is
 * compared with revocations since its start.
 */
const MIN_KEPT_MS = 300_000;

/**
 * Times at which a session, the sessions of a user, or all sessions were revoked. An older answer is revoked.
 * Cached sessions are compared when they are read, so that the revocation of a user does not search the
 * cache. Whole milliseconds of a monotonic clock.
 */
export class Revocations {
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  /** By user name, the oldest first. */
  readonly #users = new Map<string, number>();
  /** By token digest, the oldest first. */
  readonly #tokens = new Map<TokenKey, number>();
  /** Time of the newest revocation of a user; `-Infinity` if there is none or it has expired. */
  #newestUserAtMs = -Infinity;
  #allAtMs = -Infinity;
  #lostAtMs = -Infinity;

  /** `lifetimeMs`: how long an entry that was authenticated before a revocation could be cached. */
  constructor(lifetimeMs: number, now: () => number = () => performance.now()) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /**
   * Revokes every session of a user. Returns `false`, and revokes every session, if 10 000 users are revoked
   * already: see {@link addAll}.
   */
  addUser(username: string): boolean {
    const isAdded = this.#add(this.#users, username, MAX_USERS);
    if (isAdded) this.#newestUserAtMs = this.#nowMs;
    return isAdded;
  }

  /**
   * Revokes earlier answers about a session, by its token digest. Returns `false`, and revokes every session,
   * if 10 000 are revoked already.
   */
  addToken(tokenKey: TokenKey): boolean {
    return this.#add(this.#tokens, tokenKey, MAX_TOKENS);
  }

  /**
   * Revokes every session. The caller evicts those in its cache, which this table no longer lists by user.
   */
  addAll(): void {
    this.#users.clear();
    this.#tokens.clear();
    this.#newestUserAtMs = -Infinity;
    this.#allAtMs = this.#nowMs;
  }

  /**
   * Whether no user was revoked within the lifetime, so that {@link revokesUser} is `false` for every entry
   * of a cache.
   */
  get hasNoUsers(): boolean {
    // Read on every cache hit: the clock is read only until the newest revocation has expired.
    if (this.#newestUserAtMs === -Infinity) return true;
    if (this.#newestUserAtMs + this.#lifetimeMs >= this.#nowMs) return false;
    this.#newestUserAtMs = -Infinity;
    return true;
  }

  /**
   * Records that revocations of other instances may have been lost. Later answers of a store are reliable,
   * because it contains them.
   */
  addMessageLoss(): void {
    this.#lostAtMs = this.#nowMs;
  }

  /** Returns whether revocations may have been lost since a time. */
  lostMessagesSince(timeMs: number): boolean {
    return Math.floor(timeMs) <= this.#lostAtMs;
  }

  /**
   * Returns whether an answer about a session of this user, confirmed at a time, is revoked; with `tokenKey`,
   * also by its token.
   */
  revokes(user: unknown, confirmedAtMs: number, tokenKey?: TokenKey): boolean {
    const atMs = Math.floor(confirmedAtMs);
    if (atMs <= this.#allAtMs || this.revokesUser(user, atMs)) return true;
    return tokenKey !== undefined && atMs <= (this.#tokens.get(tokenKey) ?? -Infinity);
  }

  /**
   * Returns whether a cache entry is revoked by its user. For caches that evict the entries that `addAll` and
   * `addToken` revoke. An entry of the same millisecond as the revocation is revoked.
   */
  revokesUser(user: unknown, confirmedAtMs: number): boolean {
    return someUsername(
      user as object,
      (username) => confirmedAtMs <= (this.#users.get(username) ?? -Infinity),
    );
  }

  #add<Key extends string>(revocations: Map<Key, number>, key: Key, max: number): boolean {
    this.#removeExpired(revocations);
    revocations.delete(key);
    const hasRoom = revocations.size < max;
    if (hasRoom) revocations.set(key, this.#nowMs);
    else this.addAll();
    return hasRoom;
  }

  get #nowMs(): number {
    return Math.floor(this.#now());
  }

  #removeExpired(revocations: Map<string, number>): void {
    for (const [key, atMs] of revocations) {
      if (atMs + Math.max(this.#lifetimeMs, MIN_KEPT_MS) >= this.#nowMs) break;
      revocations.delete(key);
    }
  }
}
