import { hash, randomBytes } from 'node:crypto';
import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';

/** Minimum capacity of the table, in tokens: 60 bytes each, 0.6 MB when full. */
export const MIN_KNOWN_SESSIONS = 10_000;
/** Half an hour. After a longer pause, a user is a stranger for one call. */
const LIFETIME_SECONDS = 1_800;
/** Half a year: times that differ by more look newer than they are. */
const MAX_SECONDS = 2 ** 24;
/** IVs of one token with which its sessions are known. */
const MAX_IVS = 8;
/** Stands for the session of a token that a sign-in has issued and that no request has presented yet. */
const NOT_PRESENTED = '' as SessionKey;

/** A user of known sessions, as a number that is valid in this process only. */
type UserNumber = number;

/** The user of a token, or else the token: failures are counted by it. */
export type CallerKey = TokenKey | UserNumber;

interface KnownToken {
  readonly user: UserNumber | undefined;
  /** The first of these stays; the others are those that were authenticated last. */
  sessions: readonly SessionKey[];
  readonly second: number;
}

/**
 * The number `user * MAX_SECONDS + second` if the only session is the one without an IV: an object takes
 * twice the memory.
 */
type Entry = KnownToken | number;

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
  /** The least recently used first. */
  readonly #tokens = new Map<TokenKey, Entry>();
  /** Seconds that have passed by the faster of both clocks, and what they showed when the last one began. */
  #second = 0;
  #beganMs = performance.now();
  #beganWallMs = Date.now();

  /** `identityFields`: the first of these fields that is not empty identifies the user of a record. */
  constructor(maxEntries = MIN_KNOWN_SESSIONS, identityFields: readonly string[] = ['username']) {
    this.#maxEntries = maxEntries;
    this.#identityFields = identityFields;
  }

  /** Returns whether a session is known. The first session that presents the token of a sign-in is. */
  has({ tokenKey, sessionKey }: SessionKeys): boolean {
    const entry = this.#find(tokenKey);
    if (entry === undefined) return false;
    setNewest(this.#tokens, tokenKey, entry, this.#maxEntries);
    if (typeof entry === 'number') return sessionKey === tokenKey;
    if (entry.sessions[0] === NOT_PRESENTED) entry.sessions = [sessionKey];
    return entry.sessions.includes(sessionKey);
  }

  /** Returns the user of a token, if it is in the table, or else the token itself. */
  callerOf(tokenKey: TokenKey): CallerKey {
    return userNumberOf(this.#tokens.get(tokenKey)) ?? tokenKey;
  }

  add(tokenKey: TokenKey, user?: unknown): void {
    this.#set(tokenKey, this.#numberOf(user), [NOT_PRESENTED]);
  }

  delete(tokenKey: TokenKey): void {
    this.#tokens.delete(tokenKey);
  }

  /** Adds an authenticated session, removes a refused one. */
  update({ tokenKey, sessionKey }: SessionKeys, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'unavailable') return;
    const entry = this.#find(tokenKey);
    const sessions = typeof entry === 'number' ? [tokenKey] : (entry?.sessions ?? []);
    if (verdict.kind !== 'authenticated') {
      if (entry === undefined) return;
      const left = withoutSession(sessions, sessionKey);
      this.#tokens.set(tokenKey, { user: userNumberOf(entry), sessions: left, second: secondOf(entry) });
    } else if (!verdict.stale)
      this.#set(
        tokenKey,
        userNumberOf(entry) ?? this.#numberOf(verdict.user),
        withSession(sessions, sessionKey),
      );
  }

  #find(tokenKey: TokenKey): Entry | undefined {
    const entry = this.#tokens.get(tokenKey);
    if (entry === undefined) return undefined;
    const ageSeconds = (this.#nowSecond() - secondOf(entry) + MAX_SECONDS) % MAX_SECONDS;
    return ageSeconds < LIFETIME_SECONDS ? entry : undefined;
  }

  #set(tokenKey: TokenKey, user: UserNumber | undefined, sessions: readonly SessionKey[]): void {
    const second = this.#nowSecond();
    const isPlain = user !== undefined && sessions.length === 1 && sessions[0] === tokenKey;
    const entry = isPlain ? user * MAX_SECONDS + second : { user, sessions, second };
    setNewest(this.#tokens, tokenKey, entry, this.#maxEntries);
  }

  #nowSecond(): number {
    const [nowMs, wallMs] = [performance.now(), Date.now()];
    const passedMs = Math.max(nowMs - this.#beganMs, wallMs - this.#beganWallMs);
    if (passedMs >= 1_000) {
      this.#second = (this.#second + Math.floor(passedMs / 1_000)) % MAX_SECONDS;
      this.#beganMs = nowMs - (passedMs % 1_000);
      this.#beganWallMs = wallMs - (passedMs % 1_000);
    }
    return this.#second;
  }

  #numberOf(user: unknown): UserNumber | undefined {
    if (typeof user !== 'object' || user === null) return undefined;
    for (const field of this.#identityFields) {
      const value: unknown = (user as Readonly<Record<string, unknown>>)[field];
      // 28 bits, so that a time fits beside it.
      if (typeof value === 'string' && value !== '')
        return parseInt(hash('sha256', this.#salt + value, 'hex').slice(0, 7), 16);
    }
    return undefined;
  }
}

/** Sets the newest entry of a map, which evicts its oldest if it is full. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value as Key);
}

function secondOf(entry: Entry): number {
  return typeof entry === 'number' ? entry % MAX_SECONDS : entry.second;
}

function userNumberOf(entry: Entry | undefined): UserNumber | undefined {
  return typeof entry === 'number' ? Math.floor(entry / MAX_SECONDS) : entry?.user;
}

function withSession(sessions: readonly SessionKey[], sessionKey: SessionKey): readonly SessionKey[] {
  const [first = NOT_PRESENTED, ...others] = sessions;
  if (first === NOT_PRESENTED) return [sessionKey];
  return sessions.includes(sessionKey) ? sessions : [first, ...others.slice(2 - MAX_IVS), sessionKey];
}

/** Returns the sessions that are left after a refusal: that of a sign-in may not have been presented yet. */
function withoutSession(sessions: readonly SessionKey[], sessionKey: SessionKey): readonly SessionKey[] {
  return sessions.filter((session) => session !== sessionKey && session !== NOT_PRESENTED);
}
