import { hash, randomBytes } from 'node:crypto';
import type { TokenKey } from '../../contract/session-identity.js';
import type { Verdict } from '../../contract/outcome.js';
import { ClockSteps } from '../cache/clock-steps.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** Minimum capacity of the table, in sessions: 100 bytes each, 1 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_MS = 1_800_000;

/** A user of known sessions, as a number that is valid in this process only. */
type UserNumber = number;
const UNKNOWN_USER: UserNumber = -1;

/**
 * Sessions that this process authenticated, or issued by a sign-in, within the last half hour, by token digest. A full table evicts the least
 * recently used. A lifetime ends when the monotonic or the wall clock says so. The table determines the lane of a call, and never grants access.
 */
export class KnownSessions {
  readonly #users: TtlLruMap<TokenKey, UserNumber>;
  readonly #identityFields: readonly string[];
  /** Without it, users could choose names with the number of another user. */
  readonly #salt = randomBytes(16).toString('hex');

  /** `identityFields`: the first of these fields that is not empty identifies the user of a record. */
  constructor(
    maxEntries = MIN_KNOWN_SESSIONS,
    now: () => number = () => performance.now(),
    identityFields: readonly string[] = ['username'],
    wallNow?: () => number,
  ) {
    this.#identityFields = identityFields;
    const steps = new ClockSteps(LIFETIME_MS, now, wallNow);
    const faster = (): number => {
      const nowMs = now();
      steps.observe(nowMs);
      return nowMs + steps.aheadMs;
    };
    this.#users = new TtlLruMap({ maxEntries, ttlMs: LIFETIME_MS }, faster);
  }

  /** Returns whether the session with this token digest is known. */
  has(tokenKey: TokenKey): boolean {
    return this.#users.get(tokenKey) !== undefined;
  }

  /** Returns the user of a known session, or else the token itself. */
  callerOf(tokenKey: TokenKey): TokenKey | UserNumber {
    const user = this.#users.get(tokenKey);
    return user === undefined || user === UNKNOWN_USER ? tokenKey : user;
  }

  /** Adds a session that a sign-in issued. */
  add(tokenKey: TokenKey): void {
    this.#users.set(tokenKey, UNKNOWN_USER);
  }

  /** Removes a session that was signed out. */
  delete(tokenKey: TokenKey): void {
    this.#users.delete(tokenKey);
  }

  /** Adds an authenticated session, removes a refused one. `unavailable` and stale verdicts change nothing. */
  update(tokenKey: TokenKey, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind !== 'authenticated') this.#users.delete(tokenKey);
    else if (!verdict.stale) this.#users.set(tokenKey, this.#numberOf(verdict.user));
  }

  #numberOf(user: unknown): UserNumber {
    if (typeof user !== 'object' || user === null) return UNKNOWN_USER;
    for (const field of this.#identityFields) {
      const value: unknown = (user as Readonly<Record<string, unknown>>)[field];
      // 28 bits, which V8 stores without an object of their own.
      if (typeof value === 'string' && value !== '') return parseInt(hash('sha256', this.#salt + value, 'hex').slice(0, 7), 16);
    }
    return UNKNOWN_USER;
  }
}
