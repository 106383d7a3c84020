const MAX_USERS = 10_000;

/**
 * When the sessions of a user, or all sessions, were revoked. Cached sessions are held against it when they are read, so that a revocation
 * does not have to search for them. Whole milliseconds of a monotonic clock.
 */
export class UserRevocations {
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  /** By user name, the oldest first. */
  readonly #atMs = new Map<string, number>();
  #allAtMs = -Infinity;

  /** A revocation matters for `lifetimeMs`: as long as a session that was confirmed before it could be cached. */
  constructor(lifetimeMs: number, now: () => number = () => performance.now()) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** Revokes every session of a user; every session if there are too many users. */
  add(username: string): void {
    const nowMs = Math.floor(this.#now());
    for (const [name, atMs] of this.#atMs) {
      if (atMs + this.#lifetimeMs >= nowMs) break;
      this.#atMs.delete(name);
    }
    this.#atMs.delete(username);
    if (this.#atMs.size < MAX_USERS) this.#atMs.set(username, nowMs);
    else this.addAll();
  }

  /** Revokes every session. */
  addAll(): void {
    this.#atMs.clear();
    this.#allAtMs = Math.floor(this.#now());
  }

  /** Whether no user was revoked lately, so that {@link revokesUser} is `false` for all. */
  get isEmpty(): boolean {
    return this.#atMs.size === 0;
  }

  /** Whether a session of this user that was confirmed so many milliseconds ago is revoked. */
  revokedWithin(user: unknown, ageMs: number): boolean {
    return this.revokes(user, Math.floor(this.#now()) - Math.ceil(ageMs));
  }

  /** The same by the time of its confirmation. The same millisecond counts as before. */
  revokes(user: unknown, confirmedAtMs: number): boolean {
    return confirmedAtMs <= this.#allAtMs || this.revokesUser(user, confirmedAtMs);
  }

  /** The same without revocations of all sessions, for entries of a cache that these have emptied. */
  revokesUser(user: unknown, confirmedAtMs: number): boolean {
    const username = usernameOf(user);
    return username !== undefined && confirmedAtMs <= (this.#atMs.get(username) ?? -Infinity);
  }
}

/** The `username` of a record, if it has one. */
export function usernameOf(user: unknown): string | undefined {
  const { username } = user as { readonly username?: unknown };
  return typeof username === 'string' ? username : undefined;
}
