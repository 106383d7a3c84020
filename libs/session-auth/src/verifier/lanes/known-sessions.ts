import type { TokenKey } from '../../contract/session-identity.js';
import type { Verdict } from '../../contract/outcome.js';
import { ClockSteps } from '../cache/clock-steps.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** Minimum capacity of the table, in sessions: 100 bytes each, 1 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_MS = 1_800_000;

/**
 * Sessions that this process authenticated, or issued by a sign-in, within the last half hour, by token digest. A full table evicts the least
 * recently used. A lifetime ends when the monotonic or the wall clock says so. The table determines the lane of a call, and never grants access.
 */
export class KnownSessions {
  readonly #sessions: TtlLruMap<TokenKey, true>;

  constructor(maxEntries = MIN_KNOWN_SESSIONS, now: () => number = () => performance.now(), wallNow?: () => number) {
    const steps = new ClockSteps(LIFETIME_MS, now, wallNow);
    const faster = (): number => {
      const nowMs = now();
      steps.observe(nowMs);
      return nowMs + steps.aheadMs;
    };
    this.#sessions = new TtlLruMap({ maxEntries, ttlMs: LIFETIME_MS }, faster);
  }

  /** Returns whether the session with this token digest is known. */
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

  /** Adds an authenticated session, removes a refused one. `unavailable` and stale verdicts change nothing. */
  update(tokenKey: TokenKey, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind !== 'authenticated') this.#sessions.delete(tokenKey);
    else if (!verdict.stale) this.#sessions.set(tokenKey, true);
  }
}
