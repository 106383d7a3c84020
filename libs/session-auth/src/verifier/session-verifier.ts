import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { CHECKS, type LaneName } from '../contract/diagnostics.js';
import {
  sessionKeysOf,
  type SessionIdentity,
  type SessionKeys,
  type TokenKey,
} from '../contract/session-identity.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { Lanes } from './lanes.js';
import { canReuse, reportCachedCheck, reportCheck, type SessionCheck } from './session-check.js';
import type { SessionCache } from './session-cache.js';
import type { ServiceCall, SharedTier } from './shared-tier.js';
import { SessionRevoker } from './session-revoker.js';
import { type FlightAccess, type FlightDemand, SingleFlight } from './single-flight.js';
import type { MisconfigurationDetector } from './misconfiguration-detector.js';

/**
 * Checks sessions: by the session cache, or else by one single flight to the shared tier and, protected, to
 * the session service.
 */
export class SessionVerifier<User extends object> {
  readonly #authority: string;
  readonly #check: Lanes<User>;
  readonly #cache: SessionCache<User> | undefined;
  readonly #shared: SharedTier<User> | undefined;
  readonly #misconfiguration: MisconfigurationDetector | undefined;
  readonly #flights: SingleFlight<Verdict<User>>;
  /** Revokes and evicts sessions. */
  readonly revoker: SessionRevoker<User>;

  constructor(check: Lanes<User>, parts: VerifierParts<User> = {}) {
    const {
      authority = DEFAULT_AUTHORITY,
      cache,
      shared,
      misconfiguration,
      onRevoked,
      onEvicted,
      onUsersRevoked,
    } = parts;
    this.#authority = authority;
    this.#check = check;
    this.#cache = cache;
    this.#shared = shared;
    this.#misconfiguration = misconfiguration;
    this.#flights = new SingleFlight((keys, verdict, sentAtMs) => this.#record(keys, verdict, sentAtMs));
    this.revoker = new SessionRevoker({
      cache,
      shared,
      known: check.known,
      flights: this.#flights,
      onRevoked,
      onEvicted,
      onUsersRevoked,
    });
  }

  /**
   * Checks a session for one request. Returns `earlier`, the previous check of the request, if it satisfies
   * `maxAgeMs` too. Without a limit it always does; with a limit, only if this request started the call. A
   * check is reused for 10 seconds, because a request may last as long as a stream. The verdict never
   * rejects.
   */
  check(session: SessionIdentity, maxAgeMs = Infinity, earlier?: SessionCheck<User>): SessionCheck<User> {
    const revocations = this.revoker.count;
    if (
      earlier?.verifier === this &&
      earlier.revocations === revocations &&
      canReuse(earlier, session, maxAgeMs)
    )
      return earlier;
    const keys = sessionKeysOf(session);
    const madeAtMs = performance.now();
    const madeAtWallMs = Date.now();
    const cached = this.#cache?.find(keys, maxAgeMs, madeAtMs, madeAtWallMs);
    if (cached) this.#found(session, keys, cached);
    if (cached)
      return {
        verifier: this,
        session,
        verdict: cached,
        isFresh: false,
        madeAtMs,
        madeAtWallMs,
        revocations,
      };
    this.revoker.checkBegins(keys.tokenKey);
    const demand = { maxAgeMs, byService: this.#mustBeFresh(keys, maxAgeMs) };
    const access = this.#flights.accessOf(keys, demand);
    const pending = this.#ask(session, keys, demand, access);
    const verdict = CHECKS.hasSubscribers
      ? reportCheck(pending, access !== 'starts', this.#authority)
      : pending;
    const isFresh = access !== 'joins' && (maxAgeMs !== Infinity || this.#usesServiceOnly);
    return { verifier: this, session, verdict, isFresh, madeAtMs, madeAtWallMs, revocations };
  }

  /**
   * Returns the verdict on a session, without a promise if it is cached and no older than `maxAgeMs`. Never
   * rejects. Concurrent checks of one session share one call; with a limit, a call that was sent within
   * `maxAgeMs`. At most two calls of one session are made at once.
   */
  verify(session: SessionIdentity, maxAgeMs = Infinity): Verdict<User> | Promise<Verdict<User>> {
    return this.check(session, maxAgeMs).verdict;
  }

  /** Returns the number of sessions in the cache of this instance; 0 without a cache. Visits every entry. */
  countCached(): number {
    return this.#cache?.count() ?? 0;
  }

  /**
   * Calls the service without joining a flight, in the lane of the session unless `lane` is set. A refusal
   * evicts the session.
   */
  async ask(session: SessionIdentity, lane?: LaneName): Promise<Verdict<User>> {
    const keys = sessionKeysOf(session);
    this.revoker.checkBegins(keys.tokenKey);
    const verdict = await this.#check.call(session, keys, 0, lane);
    this.#detectMisconfiguration(keys, verdict);
    this.#check.known.update(keys, verdict);
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden') {
      this.revoker.refused(keys.tokenKey, verdict.kind);
      this.#cache?.evict(keys.tokenKey);
    }
    return verdict;
  }

  /** Stops publishing to and receiving from other instances. */
  async close(): Promise<void> {
    await this.#shared?.close();
  }

  #found(session: SessionIdentity, keys: SessionKeys, cached: Verdict<User>): void {
    if (CHECKS.hasSubscribers) reportCachedCheck(cached, this.#authority);
    if (cached.kind === 'authenticated' && this.#cache?.tryRefresh(keys))
      void this.#askAll('refresh', session, keys, {});
  }

  /**
   * Whether a check without a limit that misses the cache can only be answered by the service: there is no
   * store, and no stale session is served.
   */
  get #usesServiceOnly(): boolean {
    return !this.#shared && !this.#cache?.servesStale;
  }

  #ask(
    session: SessionIdentity,
    keys: SessionKeys,
    demand: FlightDemand,
    access: FlightAccess,
  ): Promise<Verdict<User>> {
    if (access === 'full') return Promise.resolve(unavailable('busy', 1));
    const shared = this.#askAll('check', session, keys, demand);
    const pending = access === 'waits' ? this.#check.within(shared) : shared;
    return demand.maxAgeMs === Infinity && this.#cache?.servesStale ? this.#orStale(pending, keys) : pending;
  }

  async #orStale(pending: Promise<Verdict<User>>, keys: SessionKeys): Promise<Verdict<User>> {
    const verdict = await pending;
    const stale = verdict.kind === 'unavailable' ? this.#cache?.findStale(keys) : undefined;
    return stale !== undefined ? { kind: 'authenticated', user: stale, stale: true } : verdict;
  }

  /** A revoked token is also checked by the service: a writer of the store could restore its old entry. */
  #mustBeFresh({ tokenKey }: SessionKeys, maxAgeMs: number): boolean {
    return maxAgeMs !== Infinity || this.#cache?.isRevoked(tokenKey) === true;
  }

  #askAll(
    mode: 'check' | 'refresh',
    session: SessionIdentity,
    keys: SessionKeys,
    demand: FlightDemand,
  ): Promise<Verdict<User>> {
    const shared = demand.byService ? undefined : this.#shared;
    const lane = mode === 'refresh' ? 'known' : undefined;
    if (!shared)
      return this.#flights.share(keys, () => this.#check.call(session, keys, 0, lane), {
        ...demand,
        byService: true,
      });
    return this.#flights.share(
      keys,
      (flight) => shared[mode](session, keys, this.#serviceCall(session, keys, lane), flight),
      demand,
    );
  }

  #serviceCall(
    session: SessionIdentity,
    keys: SessionKeys,
    lane = this.#check.laneOf(keys),
  ): ServiceCall<User> {
    return {
      ask: (spentMs) => this.#check.call(session, keys, spentMs, lane),
      patienceMs: this.#check.lanes[lane].pace.sharingMs,
      timeoutMs: this.#check.timeoutMs,
    };
  }

  #record(keys: SessionKeys, verdict: Verdict<User>, sentAtMs: number): void {
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden')
      this.revoker.refused(keys.tokenKey, verdict.kind);
    this.#cache?.update(keys, verdict, sentAtMs);
    this.#detectMisconfiguration(keys, verdict);
    this.#check.known.update(keys, verdict);
  }

  /**
   * Before the verdict makes a known session unknown. An answer of the store does not show that the key is
   * right.
   */
  #detectMisconfiguration(keys: SessionKeys, verdict: Verdict<User>): void {
    if (!this.#misconfiguration || (verdict.kind === 'authenticated' && verdict.confirmedAtMs !== undefined))
      return;
    const { known } = this.#check;
    const caller = known.has(keys) ? known.callerOf(keys.tokenKey) : keys.tokenKey;
    this.#misconfiguration.record(keys.tokenKey, verdict, caller === keys.tokenKey ? undefined : caller);
  }
}

/** Optional collaborators of a `SessionVerifier`. */
export interface VerifierParts<User extends object> {
  /** Name of the registration, for diagnostics. @default 'default' */
  readonly authority?: string | undefined;
  /** Session cache of this instance. */
  readonly cache?: SessionCache<User> | undefined;
  /** Shared tier of all instances. It is looked up after `cache`, and requires it. */
  readonly shared?: SharedTier<User> | undefined;
  readonly misconfiguration?: MisconfigurationDetector | undefined;
  /** Called for each revocation of a session. */
  readonly onRevoked?: ((tokenKey: TokenKey) => void) | undefined;
  /** Called for each eviction of a session: its next check is by the service. */
  readonly onEvicted?: ((tokenKey: TokenKey) => void) | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
}
