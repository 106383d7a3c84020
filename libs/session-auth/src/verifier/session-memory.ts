import { REJECTED, type Accepted, type Rejected, type Verdict } from '../contract/verdict.js';
import { entryOf, userOf, UserUnderIv, type CachedUser } from './cached-user.js';
import { LapsingMap } from './lapsing-map.js';
import { shortenedBy, type MemorySettings } from './memory-settings.js';
import { RefreshPauses } from './refresh-pauses.js';
import type { SessionKeys } from './session-key.js';
import { Revocations } from './revocations.js';

/** What this process remembers of sessions, keyed by digests. Every part is bounded, and none can push out another. */
export class SessionMemory<User extends object | string | number | true> {
  readonly #settings: MemorySettings;
  readonly #sessions: LapsingMap<CachedUser<User>>;
  /** Of each refused token, the session. */
  readonly #refusals: LapsingMap<string>;
  readonly #signedOut: LapsingMap<true>;
  readonly #refreshPauses: RefreshPauses;
  /** Every cached session is held against it when it is read. */
  readonly revocations: Revocations;

  constructor(settings: MemorySettings, now: () => number = () => performance.now()) {
    const { maxEntries, ttlMs, negativeTtlMs, staleIfErrorMs } = settings;
    this.#settings = settings;
    this.revocations = new Revocations(ttlMs + staleIfErrorMs, now);
    this.#sessions = new LapsingMap({ maxEntries, lifetimeMs: ttlMs }, now);
    this.#refusals = new LapsingMap({ maxEntries, lifetimeMs: negativeTtlMs }, now);
    this.#signedOut = new LapsingMap({ maxEntries, lifetimeMs: ttlMs + staleIfErrorMs }, now);
    this.#refreshPauses = new RefreshPauses(settings, now);
  }

  /** What is known of a session and not older than its lifetime, nor than `maxAgeMs`. */
  find(keys: SessionKeys, maxAgeMs: number): Accepted<User> | typeof REJECTED | undefined {
    const user = userOf(this.#sessions.get(keys.token), keys);
    if (user !== undefined) return this.#isGood(keys.token, user, maxAgeMs) ? { kind: 'accepted', user } : undefined;
    if (this.#refusals.get(keys.token) !== keys.session) return undefined;
    return this.#refusals.isYounger(keys.token, maxAgeMs) ? REJECTED : undefined;
  }

  /** The user of a session that was confirmed before, for when the service can't say. */
  findStale(keys: SessionKeys): User | undefined {
    const { ttlMs, staleIfErrorMs } = this.#settings;
    if (staleIfErrorMs === 0) return undefined;
    const user = userOf(this.#sessions.getLapsed(keys.token), keys);
    return user !== undefined && this.#isGood(keys.token, user, ttlMs + staleIfErrorMs) ? user : undefined;
  }

  /** Whether an expired session may be served while the service is unavailable. */
  get servesStale(): boolean {
    return this.#settings.staleIfErrorMs > 0;
  }

  /** Whether a remembered session should be asked about again while it is still good; says so once in a while. */
  claimRefresh({ token }: SessionKeys): boolean {
    const { ttlMs, refreshAheadMs } = this.#settings;
    if (refreshAheadMs === 0 || this.#sessions.isYounger(token, ttlMs - refreshAheadMs)) return false;
    return this.#refreshPauses.claim(token);
  }

  /**
   * Caches what the service answered; an outage changes nothing. A session's lifetime begins when the call was sent, `tookMs` ago: the service
   * may have looked at it then. An answer that may not be cached (`cacheForMs: 0`) evicts the one before it.
   */
  learn(keys: SessionKeys, verdict: Verdict<User>, tookMs = 0): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind === 'accepted') {
      this.#remember(keys, verdict, tookMs);
      return;
    }
    this.#sessions.delete(keys.token);
    if (verdict.kind === 'rejected') this.#rememberRefusal(keys, verdict, tookMs);
  }

  /** How many sessions are cached now. It looks at each. */
  count(): number {
    return this.#sessions.count((token, user) => !this.#isEntryRevoked(token, user));
  }

  /** Whether a session was remembered lately, lapsed or not. */
  knows(token: string): boolean {
    return this.#sessions.getLapsed(token) !== undefined;
  }

  /** Drops a session; a refusal stays. */
  drop(token: string): void {
    this.#sessions.delete(token);
  }

  /** Evicts every session of a user. One that was asked about before is not cached either. */
  revokeUser(username: string): void {
    this.revocations.add(username);
  }

  /** Evicts every session. */
  clear(): void {
    this.#sessions.clear();
  }

  /** Whether a token was signed out. */
  isBarred(token: string): boolean {
    return this.#signedOut.get(token) !== undefined;
  }

  /** Drops what is remembered of a token, under whatever IV. */
  forget(token: string): void {
    this.#sessions.delete(token);
    this.#refusals.delete(token);
  }

  /** Drops a token that is signed out, and remembers it no more for as long as it could have been remembered. */
  bar(token: string): void {
    this.forget(token);
    this.#signedOut.set(token, true);
  }

  /** A sign-in gave this token: what was known against it is void. */
  pardon(token: string): void {
    this.#refusals.delete(token);
    this.#signedOut.delete(token);
  }

  #isGood(token: string, user: User, maxAgeMs: number): boolean {
    if (this.#isEntryRevoked(token, user)) {
      this.#sessions.delete(token);
      return false;
    }
    return this.#sessions.isYounger(token, maxAgeMs);
  }

  #isEntryRevoked(token: string, entry: CachedUser<User>): boolean {
    if (this.revocations.isEmpty) return false;
    return this.revocations.revokesUser(entry instanceof UserUnderIv ? entry.user : entry, this.#sessions.setAtMs(token));
  }

  #remember(keys: SessionKeys, { user, ageMs = 0, cacheForMs }: Accepted<User>, tookMs: number): void {
    const { token } = keys;
    if (this.isBarred(token) || this.revocations.lostWithin(tookMs) || this.revocations.revokedWithin(user, ageMs + tookMs)) return;
    this.#refusals.delete(token);
    if (cacheForMs === 0) {
      this.#sessions.delete(token);
      return;
    }
    this.#sessions.set(token, entryOf(user, keys), ageMs + tookMs + shortenedBy(cacheForMs, this.#settings.ttlMs));
    this.#refreshPauses.cached(token, cacheForMs);
  }

  #rememberRefusal({ token, session }: SessionKeys, { cacheForMs }: Rejected, tookMs: number): void {
    const { negativeTtlMs } = this.#settings;
    if (negativeTtlMs === 0 || cacheForMs === 0) this.#refusals.delete(token);
    else this.#refusals.set(token, session, cacheForMs === undefined ? 0 : tookMs + shortenedBy(cacheForMs, negativeTtlMs));
  }
}
