import { hash, randomBytes } from 'node:crypto';
import type { SessionKey, SessionKeys, TokenKey } from '../../contract/session-identity.js';
import type { Verdict } from '../../contract/outcome.js';
import { ClockSteps } from '../cache/clock-steps.js';
import { TtlLruMap } from '../cache/ttl-lru-map.js';

/** Minimum capacity of the table, in tokens: 150 bytes each, 1.5 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_MS = 1_800_000;
/** Maximum number of IVs of one token with which its sessions are known. */
const MAX_IVS = 8;
/** Stands for the session of a token that a sign-in has issued and that no request has presented yet. */
const NOT_PRESENTED = '' as SessionKey;

/** A user of known sessions, as a number that is valid in this process only. */
type UserNumber = number;

/**
 * The cause of a call, to which its failures are attributed: the user of its token, or else the digest of the
 * token.
 */
export type CallerKey = TokenKey | UserNumber;

/** A token with its user, and the sessions that were authenticated with it. */
interface KnownToken {
  user: UserNumber | undefined;
  /** The first session; `undefined` once the service has refused it. */
  session: SessionKey | undefined;
  /** Sessions with other IVs, the oldest first. */
  others: SessionKey[] | undefined;
}

/**
 * Sessions that this process authenticated, or issued by a sign-in, within the last half hour, by token
 * digest. A full table evicts the least recently used. A lifetime ends when the monotonic or the wall clock
 * says so. The table determines the lane of a call, and never grants access. A token that is presented with
 * an IV with which it was never authenticated is no known session, but its user stays known: failures that it
 * provokes are that user's.
 */
export class KnownSessions {
  readonly #tokens: TtlLruMap<TokenKey, KnownToken>;
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
    this.#tokens = new TtlLruMap({ maxEntries, ttlMs: LIFETIME_MS }, faster);
  }

  /** Returns whether a session is known. The first session that presents the token of a sign-in is. */
  has({ tokenKey, sessionKey }: SessionKeys): boolean {
    const known = this.#tokens.get(tokenKey);
    if (!known) return false;
    if (known.session === NOT_PRESENTED) known.session = sessionKey;
    return known.session === sessionKey || known.others?.includes(sessionKey) === true;
  }

  /** Returns the user of a token, if it is in the table, or else the token itself. */
  callerOf(tokenKey: TokenKey): CallerKey {
    return this.#tokens.get(tokenKey)?.user ?? tokenKey;
  }

  /** Adds a token that a sign-in issued. */
  add(tokenKey: TokenKey, user?: unknown): void {
    this.#tokens.set(tokenKey, { user: this.#numberOf(user), session: NOT_PRESENTED, others: undefined });
  }

  /** Removes a token that was signed out. */
  delete(tokenKey: TokenKey): void {
    this.#tokens.delete(tokenKey);
  }

  /**
   * Adds an authenticated session, removes a refused one. `unavailable` and stale verdicts change nothing.
   */
  update({ tokenKey, sessionKey }: SessionKeys, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    const known = this.#tokens.get(tokenKey);
    if (verdict.kind !== 'authenticated') {
      if (known) removeFrom(known, sessionKey);
    } else if (!verdict.stale) {
      const user = known?.user ?? this.#numberOf(verdict.user);
      this.#tokens.set(
        tokenKey,
        known ? addTo(known, sessionKey, user) : { user, session: sessionKey, others: undefined },
      );
    }
  }

  #numberOf(user: unknown): UserNumber | undefined {
    if (typeof user !== 'object' || user === null) return undefined;
    for (const field of this.#identityFields) {
      const value: unknown = (user as Readonly<Record<string, unknown>>)[field];
      // 28 bits, which V8 stores without an object of their own.
      if (typeof value === 'string' && value !== '')
        return parseInt(hash('sha256', this.#salt + value, 'hex').slice(0, 7), 16);
    }
    return undefined;
  }
}

function addTo(known: KnownToken, sessionKey: SessionKey, user: UserNumber | undefined): KnownToken {
  known.user = user;
  if (known.session === undefined || known.session === NOT_PRESENTED) known.session = sessionKey;
  else if (known.session !== sessionKey && !known.others?.includes(sessionKey)) {
    known.others = [...(known.others ?? []).slice(2 - MAX_IVS), sessionKey];
  }
  return known;
}

function removeFrom(known: KnownToken, sessionKey: SessionKey): void {
  if (known.session === sessionKey || known.session === NOT_PRESENTED) known.session = undefined;
  else known.others = known.others?.filter((other) => other !== sessionKey);
}
