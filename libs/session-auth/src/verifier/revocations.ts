import { someUsername } from '../contract/record/user-record.js';
import type { TokenKey } from '../contract/session-identity.js';

/**
 * The end of a session, of all sessions of a user, or of all sessions. The same value is applied in this
 * process, stored, and published to the other instances, which apply it too.
 */
export type Revocation =
  | {
      /**
       * Cause: `signedOut` by a user, `refused` by the service, `evicted` by the application, or because the
       * service answered 403. `signingOut`, before the service is called, is neither published nor reported.
       */
      readonly kind: 'signingOut' | 'signedOut' | 'refused' | 'evicted';
      readonly tokenKey: TokenKey;
    }
  | { readonly kind: 'userRevoked'; readonly username: string }
  | { readonly kind: 'allRevoked' };

const MAX_USERS = 10_000;
const MAX_TOKENS = 10_000;
/** No check takes longer: one in flight is compared with the revocations since its start. */
const MIN_KEPT_MS = 300_000;

/**
 * Times at which sessions were revoked, in whole milliseconds of the monotonic clock. An older answer is
 * revoked. Cached sessions are compared when they are read: the revocation of a user does not search the
 * cache.
 */
export class Revocations {
  readonly #lifetimeMs: number;
  readonly #users = new Map<string, number>();
  readonly #tokens = new Map<TokenKey, number>();
  /** Time of the newest revocation of a user; `-Infinity` if there is none or it has expired. */
  #newestUserAtMs = -Infinity;
  #allAtMs = -Infinity;
  #lostAtMs = -Infinity;

  /** `lifetimeMs`: how long an entry that was authenticated before a revocation could be cached. */
  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
  }

  /**
   * Returns `all` if it revokes every session, as one of a user or a session does if 10 000 are revoked
   * already. The caller then evicts those in its cache: this table no longer lists them by user.
   */
  add(revocation: Revocation): 'added' | 'all' {
    const nowMs = wholeMs();
    if ('tokenKey' in revocation && this.#set(this.#tokens, revocation.tokenKey, MAX_TOKENS, nowMs))
      return 'added';
    if ('username' in revocation && this.#set(this.#users, revocation.username, MAX_USERS, nowMs)) {
      this.#newestUserAtMs = nowMs;
      return 'added';
    }
    this.#users.clear();
    this.#tokens.clear();
    this.#newestUserAtMs = -Infinity;
    this.#allAtMs = nowMs;
    return 'all';
  }

  /** Whether {@link revokesUser} is `false` for every entry of a cache. */
  get hasNoUsers(): boolean {
    // Read on every cache hit: the clock is read only until the newest revocation has expired.
    if (this.#newestUserAtMs === -Infinity) return true;
    if (this.#newestUserAtMs + this.#lifetimeMs >= wholeMs()) return false;
    this.#newestUserAtMs = -Infinity;
    return true;
  }

  /** Revocations of other instances may have been lost. Later answers of a store contain them. */
  addMessageLoss(): void {
    this.#lostAtMs = wholeMs();
  }

  lostMessagesSince(timeMs: number): boolean {
    return Math.floor(timeMs) <= this.#lostAtMs;
  }

  /** Whether an answer about a session of this user, confirmed at a time, is revoked. */
  revokes(user: unknown, confirmedAtMs: number, tokenKey?: TokenKey): boolean {
    const atMs = Math.floor(confirmedAtMs);
    if (atMs <= this.#allAtMs || this.revokesUser(user, atMs)) return true;
    return tokenKey !== undefined && atMs <= (this.#tokens.get(tokenKey) ?? -Infinity);
  }

  /** For caches, which evict the entries of all other revocations. The same millisecond is revoked. */
  revokesUser(user: unknown, confirmedAtMs: number): boolean {
    if (this.#users.size === 0) return false;
    return someUsername(
      user as object,
      (username) => confirmedAtMs <= (this.#users.get(username) ?? -Infinity),
    );
  }

  /** Returns whether there is room. Removes what has expired first. */
  #set<Key extends string>(table: Map<Key, number>, key: Key, max: number, nowMs: number): boolean {
    const keptMs = Math.max(this.#lifetimeMs, MIN_KEPT_MS);
    for (const [oldest, atMs] of table) {
      if (atMs + keptMs >= nowMs) break;
      table.delete(oldest);
    }
    table.delete(key);
    if (table.size >= max) return false;
    table.set(key, nowMs);
    return true;
  }
}

function wholeMs(): number {
  return Math.floor(performance.now());
}
