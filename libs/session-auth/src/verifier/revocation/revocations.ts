import type { TokenKey } from '../../contract/session-identity.js';
const MAX_USERS = 10_000;
const MAX_TOKENS = 10_000;

/**
 * When a session, the sessions of a user, or all sessions were revoked. Answers from before do not count: cached sessions are held against it
 * when they are read, so that a revocation of a user does not have to search for them. Whole milliseconds of a monotonic clock.
 */
export class Revocations {
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  /** By user name, the oldest first. */
  readonly #users = new Map<string, number>();
  /** By token digest, the oldest first. */
  readonly #tokens = new Map<TokenKey, number>();
  /** When the newest revocation of a user was added; `-Infinity` if it has expired. */
  #newestUserAtMs = -Infinity;
  #allAtMs = -Infinity;
  #lostAtMs = -Infinity;

  /** A revocation matters for `lifetimeMs`: as long as a session that was confirmed before it could be cached. */
  constructor(lifetimeMs: number, now: () => number = () => performance.now()) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** Revokes every session of a user; every session if there are too many users. */
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

  /** Revokes what was answered about the session with this token digest. Beyond 10 000 sessions the oldest is dropped. */
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
  get isEmpty(): boolean {
    // Read on every cache hit: the clock is read only until the newest revocation has expired.
    if (this.#newestUserAtMs === -Infinity) return true;
    if (!this.#isExpired(this.#newestUserAtMs)) return false;
    // The revocations stay until the next `add`, for checks that take longer than the lifetime.
    this.#newestUserAtMs = -Infinity;
    return true;
  }

  /** Revocations of other instances may have been missed. What a store says from now on is right again, as it knows them. */
  addMessageLoss(): void {
    this.#lostAtMs = this.#nowMs;
  }

  /** Whether revocations may have been missed within so many milliseconds. */
  lostMessagesWithin(ms: number): boolean {
    return this.#nowMs - Math.ceil(ms) <= this.#lostAtMs;
  }

  /** Whether a session of this user that was confirmed so many milliseconds ago is revoked. */
  revokedWithin(user: unknown, ageMs: number, tokenKey?: TokenKey): boolean {
    const confirmedAtMs = this.#nowMs - Math.ceil(ageMs);
    if (confirmedAtMs <= this.#allAtMs || this.revokesUser(user, confirmedAtMs)) return true;
    return tokenKey !== undefined && confirmedAtMs <= (this.#tokens.get(tokenKey) ?? -Infinity);
  }

  /** Whether an entry of a cache that `addAll` and `addToken` have evicted from is revoked. The millisecond of the revocation counts as before. */
  revokesUser(user: unknown, confirmedAtMs: number): boolean {
    const username = usernameOf(user);
    return username !== undefined && confirmedAtMs <= (this.#users.get(username) ?? -Infinity);
  }

  get #nowMs(): number {
    return Math.floor(this.#now());
  }

  #removeExpired(revocations: Map<string, number>): void {
    for (const [name, atMs] of revocations) {
      if (!this.#isExpired(atMs)) break;
      revocations.delete(name);
    }
  }

  #isExpired(atMs: number): boolean {
    return atMs + this.#lifetimeMs < this.#nowMs;
  }
}

/** The `username` of a record, if it has one. */
export function usernameOf(user: unknown): string | undefined {
  const { username } = user as { readonly username?: unknown };
  return typeof username === 'string' ? username : undefined;
}
