import {
  UNAUTHENTICATED,
  type Authenticated,
  type Unauthenticated,
  type Verdict,
} from '../contract/outcome.js';
import { ClockSteps } from './clock-steps.js';
import { TtlLruMap } from './ttl-lru-map.js';
import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { Revocations } from './revocations.js';

/** Lifetimes and size of the session cache. Times are milliseconds of a monotonic clock. */
export interface CacheSettings {
  /**
   * Lifetime of a session in the cache; also the longest time that a session revoked elsewhere may still work
   * here.
   */
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
  /** Maximum number of cached sessions; also, separately, of refusals and of tombstones. */
  readonly maxEntries: number;
  /** Time before it expires at which a session in use is refreshed. */
  readonly refreshAheadMs: number;
  /** Time after it expired during which a session is served while the service is unavailable. */
  readonly staleIfErrorMs: number;
}

/**
 * The session cache of this process. Each part has its own bound, so that none evicts entries of another.
 * Times are those of the monotonic clock; an entry also expires if the wall clock has moved further, or was
 * set back behind it.
 */
export class SessionCache<User extends object> {
  readonly #settings: CacheSettings;
  readonly #entries: TtlLruMap<TokenKey, CacheEntry<User>>;
  /** The session key of each refused token. */
  readonly #negativeEntries: TtlLruMap<TokenKey, string>;
  readonly #tombstones: TtlLruMap<TokenKey, true>;
  /** Sessions that may not be refreshed now. */
  readonly #refreshPauses: TtlLruMap<TokenKey, true>;
  readonly #clockSteps: ClockSteps;
  readonly servesStale: boolean;
  readonly revocations: Revocations;

  constructor(settings: CacheSettings) {
    const { maxEntries, ttlMs, negativeTtlMs, refreshAheadMs, staleIfErrorMs } = settings;
    this.#settings = settings;
    this.servesStale = staleIfErrorMs > 0;
    this.#clockSteps = new ClockSteps(Math.max(ttlMs + staleIfErrorMs, negativeTtlMs));
    this.revocations = new Revocations(ttlMs + staleIfErrorMs);
    this.#entries = new TtlLruMap({ maxEntries, ttlMs });
    this.#negativeEntries = new TtlLruMap({ maxEntries, ttlMs: negativeTtlMs });
    // A tombstone ends when both clocks say so.
    this.#tombstones = new TtlLruMap(
      { maxEntries, ttlMs: ttlMs + staleIfErrorMs },
      { now: () => performance.now() - this.#clockSteps.backMs },
    );
    this.#refreshPauses = new TtlLruMap({ maxEntries, ttlMs: refreshAheadMs });
  }

  /**
   * Returns the cached verdict on a session, if it has not expired and is younger than `maxAgeMs`. The clocks
   * are arguments because each costs a part of a hit, and the caller has read them.
   */
  find(
    keys: SessionKeys,
    maxAgeMs: number,
    nowMs = performance.now(),
    wallMs = Date.now(),
  ): Authenticated<User> | typeof UNAUTHENTICATED | undefined {
    this.#clockSteps.observe(nowMs, wallMs);
    const user = userOfEntry(this.#entries.get(keys.tokenKey), keys);
    const { ttlMs, negativeTtlMs } = this.#settings;
    if (user !== undefined)
      return this.#isUsable(keys.tokenKey, user, maxAgeMs, ttlMs)
        ? { kind: 'authenticated', user }
        : undefined;
    if (this.#negativeEntries.get(keys.tokenKey) !== keys.sessionKey) return undefined;
    return this.#isYounger(this.#negativeEntries, keys.tokenKey, maxAgeMs, negativeTtlMs)
      ? UNAUTHENTICATED
      : undefined;
  }

  findStale(keys: SessionKeys): User | undefined {
    const { ttlMs, staleIfErrorMs } = this.#settings;
    if (!this.servesStale) return undefined;
    this.#clockSteps.observe();
    const user = userOfEntry(this.#entries.peek(keys.tokenKey), keys);
    const lifetimeMs = ttlMs + staleIfErrorMs;
    return user !== undefined && this.#isUsable(keys.tokenKey, user, lifetimeMs, lifetimeMs)
      ? user
      : undefined;
  }

  /**
   * Returns whether a cached session is due for a refresh. If so, it is not again for a pause, even if that
   * fails.
   */
  tryRefresh({ tokenKey }: SessionKeys): boolean {
    const { ttlMs, refreshAheadMs } = this.#settings;
    if (refreshAheadMs === 0 || this.#isYounger(this.#entries, tokenKey, ttlMs - refreshAheadMs, ttlMs))
      return false;
    if (this.#refreshPauses.get(tokenKey)) return false;
    this.#pauseRefresh(tokenKey, Math.max(1, refreshAheadMs / 4));
    return true;
  }

  /**
   * Caches a verdict of the service. The lifetime of a session begins when the call was sent, because the
   * service may have checked it then. An answer that may not be cached evicts the previous one.
   */
  update(keys: SessionKeys, verdict: Verdict<User>, sentAtMs: number): void {
    if (verdict.kind === 'unavailable') return;
    this.#clockSteps.observe();
    if (verdict.kind === 'authenticated') {
      this.#storeUser(keys, verdict, sentAtMs);
      return;
    }
    this.#entries.delete(keys.tokenKey);
    if (verdict.kind === 'unauthenticated') this.#storeNegative(keys, verdict, sentAtMs);
  }

  /** Returns the number of cached sessions that are neither expired nor revoked. Visits every entry. */
  count(): number {
    this.#clockSteps.observe();
    const { ttlMs } = this.#settings;
    return this.#entries.count((tokenKey, entry) =>
      this.#isUsable(tokenKey, entry instanceof UserWithIv ? entry.user : entry, Infinity, ttlMs),
    );
  }

  has(tokenKey: TokenKey): boolean {
    return this.#entries.peek(tokenKey) !== undefined;
  }

  /** Evicts a session, unless it was confirmed at `beforeMs` or later. A cached refusal stays. */
  evictAuthenticated(tokenKey: TokenKey, beforeMs = Infinity): void {
    if (this.#entries.startMs(tokenKey) < beforeMs) this.#entries.delete(tokenKey);
  }

  evictAllAuthenticated(): void {
    this.#entries.clear();
  }

  hasTombstone(tokenKey: TokenKey): boolean {
    return this.#tombstones.get(tokenKey) !== undefined;
  }

  evict(tokenKey: TokenKey): void {
    this.#entries.delete(tokenKey);
    this.#negativeEntries.delete(tokenKey);
  }

  /**
   * Evicts a token that was signed out, and prevents it from being cached for as long as it could have been.
   */
  setTombstone(tokenKey: TokenKey): void {
    this.evict(tokenKey);
    this.#tombstones.set(tokenKey, true);
  }

  clearTombstone(tokenKey: TokenKey): void {
    this.#negativeEntries.delete(tokenKey);
    this.#tombstones.delete(tokenKey);
  }

  #isUsable(tokenKey: TokenKey, user: User, maxAgeMs: number, lifetimeMs: number): boolean {
    const { revocations } = this;
    if (revocations.hasNoUsers || !revocations.revokesUser(user, this.#entries.startMs(tokenKey)))
      return this.#isYounger(this.#entries, tokenKey, maxAgeMs, lifetimeMs);
    this.#entries.delete(tokenKey);
    return false;
  }

  /**
   * Whether an entry is younger than `maxAgeMs`, and has not expired, by both clocks. `observe()` comes
   * first.
   */
  #isYounger(
    entries: Pick<TtlLruMap<TokenKey, true>, 'startMs'>,
    tokenKey: TokenKey,
    maxAgeMs: number,
    lifetimeMs: number,
  ): boolean {
    if (maxAgeMs === Infinity && this.#clockSteps.hasNone) return true;
    return this.#clockSteps.isYounger(
      entries.startMs(tokenKey),
      Math.min(maxAgeMs, lifetimeMs),
      Math.floor(performance.now()),
    );
  }

  #storeUser(
    { tokenKey, sessionKey }: SessionKeys,
    { user, confirmedAtMs, cacheForMs }: Authenticated<User>,
    sentAtMs: number,
  ): void {
    const startMs = confirmedAtMs ?? sentAtMs;
    if (startMs > performance.now()) return;
    if (
      this.hasTombstone(tokenKey) ||
      this.revocations.lostMessagesSince(sentAtMs) ||
      this.revocations.revokes(user, startMs)
    )
      return;
    this.#negativeEntries.delete(tokenKey);
    if (cacheForMs === 0) {
      this.#entries.delete(tokenKey);
      return;
    }
    const { ttlMs, refreshAheadMs } = this.#settings;
    const entry = sessionKey === tokenKey ? user : new UserWithIv(sessionKey, user);
    this.#entries.set(
      tokenKey,
      entry,
      startMs - (cacheForMs === undefined ? 0 : shortenedBy(cacheForMs, ttlMs)),
    );
    if (confirmedAtMs === undefined) this.#refreshPauses.delete(tokenKey);
    // Otherwise an entry with a lifetime of at most `refreshAheadMs` would be refreshed on each use.
    if (cacheForMs !== undefined && refreshAheadMs > 0) this.#pauseRefresh(tokenKey, cacheForMs / 2);
  }

  #pauseRefresh(tokenKey: TokenKey, forMs: number): void {
    const { refreshAheadMs } = this.#settings;
    this.#refreshPauses.set(tokenKey, true, performance.now() - Math.max(0, refreshAheadMs - forMs));
  }

  #storeNegative(
    { tokenKey, sessionKey }: SessionKeys,
    { cacheForMs }: Unauthenticated,
    sentAtMs: number,
  ): void {
    const { negativeTtlMs } = this.#settings;
    const startMs = cacheForMs === undefined ? undefined : sentAtMs - shortenedBy(cacheForMs, negativeTtlMs);
    if (negativeTtlMs === 0 || cacheForMs === 0) this.#negativeEntries.delete(tokenKey);
    else this.#negativeEntries.set(tokenKey, sessionKey, startMs);
  }
}

/** The entry of a session with an IV. Without one, the user itself is the entry, which saves an object. */
class UserWithIv<User> {
  constructor(
    readonly sessionKey: SessionKey,
    readonly user: User,
  ) {}
}

type CacheEntry<User> = User | UserWithIv<User>;

function userOfEntry<User>(
  entry: CacheEntry<User> | undefined,
  { tokenKey, sessionKey }: SessionKeys,
): User | undefined {
  if (!(entry instanceof UserWithIv)) return sessionKey === tokenKey ? entry : undefined;
  return entry.sessionKey === sessionKey ? entry.user : undefined;
}

/** Returns the milliseconds to add to the age of an entry, so that it expires after `cacheForMs`. */
export function shortenedBy(cacheForMs: number, lifetimeMs: number): number {
  return Math.max(0, lifetimeMs - cacheForMs);
}
