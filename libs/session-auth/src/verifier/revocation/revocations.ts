import type { TokenKey } from '../../contract/session-identity.js';

const MAX_USERS = 10_000;
const MAX_TOKENS = 10_000;
/** Minimum time that a revocation is kept, in milliseconds: no check takes longer. A check in flight is compared with revocations since its start. */
const MIN_KEPT_MS = 300_000;

/**
 * Times at which a session, the sessions of a user, or all sessions were revoked. An older answer is revoked. Cached sessions are compared when
 * they are read, so that the revocation of a user does not search the cache. Whole milliseconds of a monotonic clock.
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

  /** Revokes every session of a user; every session, if 10 000 users are revoked already. */
  addUser(username: string): void {
    this.#removeExpired(this.#users);
    this.#users.delete(username);
    if (this.#users.size >= MAX_USERS) {
      this.addAll();
      return;
    }
    this.#newestUserAtMs = this.#nowMs;
    this.#users.set(username, this.#newestUserAtMs);
  }

  /** Revokes earlier answers about the session with this token digest. Beyond 10 000 sessions, removes the oldest. */
  addToken(tokenKey: TokenKey): void {
    this.#removeExpired(this.#tokens);
    this.#tokens.delete(tokenKey);
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined && this.#tokens.size >= MAX_TOKENS) this.#tokens.delete(oldest);
    this.#tokens.set(tokenKey, this.#nowMs);
  }

  /** Revokes every session. */
  addAll(): void {
    this.#users.clear();
    this.#tokens.clear();
    this.#newestUserAtMs = -Infinity;
    this.#allAtMs = this.#nowMs;
  }

  /** Whether no user was revoked within the lifetime, so that {@link revokesUser} is `false` for every entry of a cache. */
  get hasNoUsers(): boolean {
    // Read on every cache hit: the clock is read only until the newest revocation has expired.
    if (this.#newestUserAtMs === -Infinity) return true;
    if (this.#newestUserAtMs + this.#lifetimeMs >= this.#nowMs) return false;
    this.#newestUserAtMs = -Infinity;
    return true;
  }

  /** Records that revocations of other instances may have been lost. Later answers of a store are reliable, because it contains them. */
  addMessageLoss(): void {
    this.#lostAtMs = this.#nowMs;
  }

  /** Returns whether revocations may have been lost since a time. */
  lostMessagesSince(timeMs: number): boolean {
    return Math.floor(timeMs) <= this.#lostAtMs;
  }

  /** Returns whether an answer about a session of this user, confirmed at a time, is revoked; with `tokenKey`, also by its token. */
  revokes(user: unknown, confirmedAtMs: number, tokenKey?: TokenKey): boolean {
    const atMs = Math.floor(confirmedAtMs);
    if (atMs <= this.#allAtMs || this.revokesUser(user, atMs)) return true;
    return tokenKey !== undefined && atMs <= (this.#tokens.get(tokenKey) ?? -Infinity);
  }

  /**
   * Returns whether a cache entry is revoked by its user. For caches that evict the entries that `addAll` and `addToken` revoke. An entry of the
   * same millisecond as the revocation is revoked.
   */
  revokesUser(user: unknown, confirmedAtMs: number): boolean {
    const username = usernameOf(user);
    return username !== undefined && confirmedAtMs <= (this.#users.get(username) ?? -Infinity);
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

/** Returns the `username` of a record, or `undefined` if it has none. */
function usernameOf(user: unknown): string | undefined {
  const { username } = user as { readonly username?: unknown };
  return typeof username === 'string' ? username : undefined;
}
