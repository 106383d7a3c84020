import { UNAUTHENTICATED, type Authenticated, type Unauthenticated, type Verdict } from '../../contract/outcome.js';
import { entryOf, userOf, UserWithIv, type CacheEntry } from './cache-entry.js';
import { TtlLruMap } from './ttl-lru-map.js';
import { shortenedBy, type CacheSettings } from './cache-entry.js';
import { RefreshThrottle } from './refresh-throttle.js';
import type { SessionKeys, TokenKey } from '../../contract/session-identity.js';
import { Revocations } from '../revocation/revocations.js';

/** What this process remembers of sessions, keyed by digests. Every part is bounded, and none can push out another. */
export class SessionCache<User extends object> {
  readonly #settings: CacheSettings;
  readonly #entries: TtlLruMap<TokenKey, CacheEntry<User>>;
  /** Of each refused token, the session. */
  readonly #negativeEntries: TtlLruMap<TokenKey, string>;
  readonly #tombstones: TtlLruMap<TokenKey, true>;
  readonly #refreshPauses: RefreshThrottle;
  /** Every cached session is held against it when it is read. */
  readonly revocations: Revocations;

  constructor(settings: CacheSettings, now: () => number = () => performance.now()) {
    const { maxEntries, ttlMs, negativeTtlMs, staleIfErrorMs } = settings;
    this.#settings = settings;
    this.revocations = new Revocations(ttlMs + staleIfErrorMs, now);
    this.#entries = new TtlLruMap({ maxEntries, ttlMs: ttlMs }, now);
    this.#negativeEntries = new TtlLruMap({ maxEntries, ttlMs: negativeTtlMs }, now);
    this.#tombstones = new TtlLruMap({ maxEntries, ttlMs: ttlMs + staleIfErrorMs }, now);
    this.#refreshPauses = new RefreshThrottle(settings, now);
  }

  /** What is known of a session and not older than its lifetime, nor than `maxAgeMs`. */
  find(keys: SessionKeys, maxAgeMs: number): Authenticated<User> | typeof UNAUTHENTICATED | undefined {
    const user = userOf(this.#entries.get(keys.tokenKey), keys);
    if (user !== undefined) return this.#isGood(keys.tokenKey, user, maxAgeMs) ? { kind: 'authenticated', user } : undefined;
    if (this.#negativeEntries.get(keys.tokenKey) !== keys.sessionKey) return undefined;
    return this.#negativeEntries.isYoungerThan(keys.tokenKey, maxAgeMs) ? UNAUTHENTICATED : undefined;
  }

  /** The user of a session that was confirmed before, for when the service can't say. */
  findStale(keys: SessionKeys): User | undefined {
    const { ttlMs, staleIfErrorMs } = this.#settings;
    if (staleIfErrorMs === 0) return undefined;
    const user = userOf(this.#entries.peek(keys.tokenKey), keys);
    return user !== undefined && this.#isGood(keys.tokenKey, user, ttlMs + staleIfErrorMs) ? user : undefined;
  }

  /** Whether an expired session may be served while the service is unavailable. */
  get servesStale(): boolean {
    return this.#settings.staleIfErrorMs > 0;
  }

  /** Whether a remembered session should be asked about again while it is still good; says so once in a while. */
  tryRefresh({ tokenKey }: SessionKeys): boolean {
    const { ttlMs, refreshAheadMs } = this.#settings;
    if (refreshAheadMs === 0 || this.#entries.isYoungerThan(tokenKey, ttlMs - refreshAheadMs)) return false;
    return this.#refreshPauses.tryStart(tokenKey);
  }

  /**
   * Caches what the service answered; an outage changes nothing. A session's lifetime begins when the call was sent, `tookMs` ago: the service
   * may have looked at it then. An answer that may not be cached (`cacheForMs: 0`) evicts the one before it.
   */
  update(keys: SessionKeys, verdict: Verdict<User>, tookMs = 0): void {
    if (verdict.kind === 'unavailable') return;
    if (verdict.kind === 'authenticated') {
      this.#storeUser(keys, verdict, tookMs);
      return;
    }
    this.#entries.delete(keys.tokenKey);
    if (verdict.kind === 'unauthenticated') this.#storeNegative(keys, verdict, tookMs);
  }

  /** How many sessions are cached now. It looks at each. */
  count(): number {
    return this.#entries.count((tokenKey, user) => !this.#isEntryRevoked(tokenKey, user));
  }

  /** Whether a session was remembered lately, lapsed or not. */
  has(tokenKey: TokenKey): boolean {
    return this.#entries.peek(tokenKey) !== undefined;
  }

  /** Drops a session; a refusal stays. */
  evictUser(tokenKey: TokenKey): void {
    this.#entries.delete(tokenKey);
  }

  /** Evicts every session of a user. One that was asked about before is not cached either. */
  revokeUser(username: string): void {
    this.revocations.addUser(username);
  }

  /** Evicts every session. */
  evictAll(): void {
    this.#entries.clear();
  }

  /** Whether a token was signed out. */
  isRevoked(tokenKey: TokenKey): boolean {
    return this.#tombstones.get(tokenKey) !== undefined;
  }

  /** Drops what is remembered of a token, under whatever IV. */
  evict(tokenKey: TokenKey): void {
    this.#entries.delete(tokenKey);
    this.#negativeEntries.delete(tokenKey);
  }

  /** Drops a token that is signed out, and remembers it no more for as long as it could have been remembered. */
  revoke(tokenKey: TokenKey): void {
    this.evict(tokenKey);
    this.#tombstones.set(tokenKey, true);
  }

  /** A sign-in gave this token: what was known against it is void. */
  clearTombstone(tokenKey: TokenKey): void {
    this.#negativeEntries.delete(tokenKey);
    this.#tombstones.delete(tokenKey);
  }

  #isGood(tokenKey: TokenKey, user: User, maxAgeMs: number): boolean {
    if (this.#isEntryRevoked(tokenKey, user)) {
      this.#entries.delete(tokenKey);
      return false;
    }
    return this.#entries.isYoungerThan(tokenKey, maxAgeMs);
  }

  #isEntryRevoked(tokenKey: TokenKey, entry: CacheEntry<User>): boolean {
    if (this.revocations.isEmpty) return false;
    return this.revocations.revokesUser(entry instanceof UserWithIv ? entry.user : entry, this.#entries.setAtMs(tokenKey));
  }

  #storeUser(keys: SessionKeys, { user, ageMs = 0, cacheForMs }: Authenticated<User>, tookMs: number): void {
    const { tokenKey } = keys;
    if (this.isRevoked(tokenKey) || this.revocations.lostMessagesWithin(tookMs) || this.revocations.revokedWithin(user, ageMs + tookMs))
      return;
    this.#negativeEntries.delete(tokenKey);
    if (cacheForMs === 0) {
      this.#entries.delete(tokenKey);
      return;
    }
    this.#entries.set(tokenKey, entryOf(user, keys), ageMs + tookMs + shortenedBy(cacheForMs, this.#settings.ttlMs));
    this.#refreshPauses.entryStored(tokenKey, cacheForMs);
  }

  #storeNegative({ tokenKey, sessionKey }: SessionKeys, { cacheForMs }: Unauthenticated, tookMs: number): void {
    const { negativeTtlMs } = this.#settings;
    if (negativeTtlMs === 0 || cacheForMs === 0) this.#negativeEntries.delete(tokenKey);
    else this.#negativeEntries.set(tokenKey, sessionKey, cacheForMs === undefined ? 0 : tookMs + shortenedBy(cacheForMs, negativeTtlMs));
  }
}
