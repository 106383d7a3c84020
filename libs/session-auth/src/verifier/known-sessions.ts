import { hash, randomBytes } from 'node:crypto';
import type { LaneName } from '../contract/diagnostics.js';
import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/** Minimum capacity of the table, in tokens: at most 200 bytes each, 2 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** A user keeps this part of the table, and has more of it only while others leave room. */
const SHARE = 1 / 100;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_MS = 1_800_000;
/** A session that is authenticated again within a minute keeps its time and its place in the table. */
const RENEW_AFTER_MS = 60_000;
/** IVs of one token with which its sessions are known. */
const MAX_IVS = 8;
/**
 * A new iterator passes all that was deleted before the oldest token (6 us for 10 000 tokens, 33 for 100 000), and
 * an old one keeps tables that the map has left.
 */
const ADDITIONS_PER_ITERATOR = 1_024;
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
  /** Up to a share for each user. Like the next map, in the order of eviction: the oldest first. */
  readonly #tokens = new Map<TokenKey, KnownToken>();
  /** Tokens beyond the share of their user. They are evicted before any of the others. */
  readonly #surplus = new Map<TokenKey, KnownToken>();
  #oldest = [this.#tokens.keys(), this.#surplus.keys()] as const;
  #additions = 0;
  /** Tokens within the share, by user. All users without a name are one. */
  readonly #counts = new Map<UserNumber | undefined, number>();

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
    const known = this.#get(tokenKey);
    const caller = known?.user ?? tokenKey;
    if (!known || !isRecent(known)) return { lane: 'strangers', caller };
    if (known.first === NOT_PRESENTED) known.first = sessionKey;
    return { lane: has(known, sessionKey) ? 'known' : 'strangers', caller };
  }

  add(tokenKey: TokenKey, user?: unknown): void {
    this.#setNewest(tokenKey, this.#numberOf(user), NOT_PRESENTED);
  }

  delete(tokenKey: TokenKey): void {
    this.#surplus.delete(tokenKey);
    const known = this.#tokens.get(tokenKey);
    if (this.#tokens.delete(tokenKey)) count(this.#counts, known?.user, -1);
  }

  update({ tokenKey, sessionKey }: SessionKeys, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    const found = this.#get(tokenKey);
    const known = found && isRecent(found) ? found : undefined;
    if (verdict.kind !== 'authenticated') {
      if (known) remove(known, sessionKey);
    } else if (!known) this.#setNewest(tokenKey, this.#numberOf(verdict.user), sessionKey);
    else {
      if (!known.first) known.first = sessionKey;
      else if (!has(known, sessionKey))
        known.others = [...(known.others ?? []).slice(2 - MAX_IVS), sessionKey];
      const user = known.user ?? this.#numberOf(verdict.user);
      if (user === known.user && performance.now() - known.sinceMs < RENEW_AFTER_MS) return;
      this.#setNewest(tokenKey, user, known.first, known.others);
    }
  }

  #get(tokenKey: TokenKey): KnownToken | undefined {
    return this.#tokens.get(tokenKey) ?? this.#surplus.get(tokenKey);
  }

  #setNewest(
    tokenKey: TokenKey,
    user: KnownToken['user'],
    first: KnownToken['first'],
    others?: KnownToken['others'],
  ): void {
    this.delete(tokenKey);
    const known = { user, sinceMs: Math.floor(performance.now()), first, others };
    if ((this.#counts.get(user) ?? 0) < this.#maxEntries * SHARE) {
      this.#tokens.set(tokenKey, known);
      count(this.#counts, user, 1);
    } else this.#surplus.set(tokenKey, known);
    this.#additions += 1;
    if (this.#additions % ADDITIONS_PER_ITERATOR === 0)
      this.#oldest = [this.#tokens.keys(), this.#surplus.keys()];
    if (this.#tokens.size + this.#surplus.size <= this.#maxEntries) return;
    const { value: oldest } = this.#oldest[this.#surplus.size > 0 ? 1 : 0].next();
    if (oldest !== undefined) this.delete(oldest);
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

/** Adds to a count, of which there is none at zero. */
export function count<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const sum = (counts.get(key) ?? 0) + change;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}
