import { createHash } from 'node:crypto';
import type { UserRecord } from 'nestjs-session-auth';

interface Entry {
  readonly user: UserRecord;
  readonly expiresAt: number;
}

/** How a token becomes the key of a cache. */
export type KeyOf = (token: string) => string;

export const rawKey: KeyOf = (token) => token;
export const digestedKey: KeyOf = (token) => createHash('sha256').update(token).digest('hex');

/** A hand-written cache: a Map with the expiry of each entry. */
export class UserCache {
  readonly #entries = new Map<string, Entry>();
  readonly #ttlMs: number;
  readonly #keyOf: KeyOf;

  constructor(ttlMs: number, keyOf: KeyOf) {
    this.#ttlMs = ttlMs;
    this.#keyOf = keyOf;
  }

  /** Returns the user of a token from the cache, or fetches and caches it. */
  find(token: string, fetch: (token: string) => Promise<UserRecord>): UserRecord | Promise<UserRecord> {
    const key = this.#keyOf(token);
    const entry = this.#entries.get(key);
    return entry && entry.expiresAt > Date.now() ? entry.user : this.#fetch(token, key, fetch);
  }

  async #fetch(
    token: string,
    key: string,
    fetch: (token: string) => Promise<UserRecord>,
  ): Promise<UserRecord> {
    const user = await fetch(token);
    this.#entries.set(key, { user, expiresAt: Date.now() + this.#ttlMs });
    return user;
  }
}
