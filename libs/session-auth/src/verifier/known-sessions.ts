import { hash, randomBytes } from 'node:crypto';
import type { LaneName } from '../contract/diagnostics.js';
import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/** Minimum capacity of the table, in tokens: a hundred bytes each, 1 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_MS = 1_800_000;
/** A session that is authenticated again within a minute keeps its time and its place in the table. */
const RENEW_AFTER_MS = 60_000;
/** IVs of one token with which its sessions are known. */
const MAX_IVS = 8;
/** Stands for the session of a token that a sign-in has issued and that no request has presented yet. */
const NOT_PRESENTED = '' as SessionKey;

/** A user of known sessions, as a number that is valid in this process only. Some users may share one. */
type UserNumber = number;

/** The user of a token, or else the token: failures are counted by it. */
export type CallerKey = TokenKey | UserNumber;

/** Numbers are integers of 30 bits, which take no memory of their own. */
interface KnownToken {
  user: UserNumber | undefined;
  sinceMs: number;
  /** The session that stays. */
  first: SessionKey | undefined;
  others: readonly SessionKey[] | undefined;
}

/**
 * Sessions that this process authenticated, or issued by a sign-in, within the last half hour. The table
 * determines the lane of a call, and never grants access. A token with an IV with which it was never
 * authenticated is no known session, but its failures are those of its user.
 */
export class KnownSessions {
  readonly #maxEntries: number;
  readonly #identityFields: readonly string[];
  /** Without it, users could choose names with the number of another user. */
  readonly #salt = randomBytes(16).toString('hex');
  readonly #tokens = new Map<TokenKey, KnownToken>();

  /** `identityFields`: the first of these fields that is not empty identifies the user of a record. */
  constructor(maxEntries = MIN_KNOWN_SESSIONS, identityFields: readonly string[] = ['username']) {
    this.#maxEntries = maxEntries;
    this.#identityFields = identityFields;
  }

  /**
   * Returns the lane of a session, and its caller: the user of its token, if that is in the table, or else the
   * token. The first session that presents the token of a sign-in is known.
   */
  find({ tokenKey, sessionKey }: SessionKeys): { readonly lane: LaneName; readonly caller: CallerKey } {
    const known = this.#tokens.get(tokenKey);
    const caller = known?.user ?? tokenKey;
    if (!known || !isRecent(known)) return { lane: 'strangers', caller };
    if (known.first === NOT_PRESENTED) known.first = sessionKey;
    return { lane: has(known, sessionKey) ? 'known' : 'strangers', caller };
  }

  add(tokenKey: TokenKey, user?: unknown, first = NOT_PRESENTED): void {
    const known = {
      user: this.#numberOf(user),
      sinceMs: Math.floor(performance.now()),
      first,
      others: undefined,
    };
    setNewest(this.#tokens, tokenKey, known, this.#maxEntries);
  }

  delete(tokenKey: TokenKey): void {
    this.#tokens.delete(tokenKey);
  }

  update({ tokenKey, sessionKey }: SessionKeys, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    const found = this.#tokens.get(tokenKey);
    const known = found && isRecent(found) ? found : undefined;
    if (verdict.kind !== 'authenticated') {
      if (known) remove(known, sessionKey);
    } else if (!known) this.add(tokenKey, verdict.user, sessionKey);
    else {
      known.user ??= this.#numberOf(verdict.user);
      if (!known.first) known.first = sessionKey;
      else if (!has(known, sessionKey))
        known.others = [...(known.others ?? []).slice(2 - MAX_IVS), sessionKey];
      if (performance.now() - known.sinceMs < RENEW_AFTER_MS) return;
      known.sinceMs = Math.floor(performance.now());
      setNewest(this.#tokens, tokenKey, known, this.#maxEntries);
    }
  }

  #numberOf(user: unknown): UserNumber | undefined {
    if (typeof user !== 'object' || user === null) return undefined;
    for (const field of this.#identityFields) {
      const value: unknown = (user as Readonly<Record<string, unknown>>)[field];
      if (typeof value === 'string' && value !== '')
        return parseInt(hash('sha256', this.#salt + value, 'hex').slice(0, 8), 16) >>> 2;
    }
    return undefined;
  }
}

function isRecent({ sinceMs }: KnownToken): boolean {
  return performance.now() - sinceMs < LIFETIME_MS;
}

function has({ first, others }: KnownToken, sessionKey: SessionKey): boolean {
  return first === sessionKey || others?.includes(sessionKey) === true;
}

/** Removes a refused session, and that of a sign-in, which may not have been presented yet. */
function remove(known: KnownToken, sessionKey: SessionKey): void {
  const [first, ...others] = [known.first, ...(known.others ?? [])].flatMap((one) =>
    one && one !== sessionKey ? one : [],
  );
  Object.assign(known, { first, others });
}

export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value as Key);
}
