import type { TokenKey } from '../../contract/session-identity.js';
import type { Verdict } from '../../contract/outcome.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** Sessions that the table has room for at least: 100 bytes each, 1 MB when it is full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour: a user who pauses for longer is a stranger for one call. */
const LIFETIME_MS = 1_800_000;

/**
 * Sessions that this process has accepted, or issued by a sign-in, within the last half hour: digests of their tokens, the least recently
 * used evicted first. The table decides in which lane a call is made, and never on access.
 */
export class KnownSessions {
  readonly #sessions: TtlLruMap<TokenKey, true>;

  constructor(maxEntries = MIN_KNOWN_SESSIONS, now: () => number = () => performance.now()) {
    this.#sessions = new TtlLruMap({ maxEntries, ttlMs: LIFETIME_MS }, now);
  }

  /** Whether the session with this token digest is known. */
  has(tokenKey: TokenKey): boolean {
    return this.#sessions.get(tokenKey) === true;
  }

  /** Adds a session that a sign-in issued. */
  add(tokenKey: TokenKey): void {
    this.#sessions.set(tokenKey, true);
  }

  /** Removes a session that was signed out. */
  delete(tokenKey: TokenKey): void {
    this.#sessions.delete(tokenKey);
  }

  /** Adds an accepted session, removes a refused one. An outage, and an answer that is stale, change nothing. */
  update(tokenKey: TokenKey, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind !== 'authenticated') this.#sessions.delete(tokenKey);
    else if (!verdict.stale) this.#sessions.set(tokenKey, true);
  }
}
