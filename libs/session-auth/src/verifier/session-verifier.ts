import { CHECKS, type LaneName } from '../contract/diagnostics.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/outcome.js';
import { reportCheck, reportCachedCheck } from './session-check.js';
import type { RevocationNotifier } from './revocation/revocation-notifier.js';
import type { ProtectedCheck } from './lanes/protected-check.js';
import { canReuse, type SessionCheck } from './session-check.js';
import { sessionKeysOf, type SessionKeys } from '../contract/session-identity.js';
import type { SessionCache } from './cache/session-cache.js';
import type { ServiceCall, SharedTier } from './shared/shared-tier.js';
import { SessionRevoker } from './revocation/session-revoker.js';
import { SingleFlight } from './single-flight.js';
import type { MisconfigurationDetector } from './misconfiguration-detector.js';

/** What a verifier works with, beside the check itself. Each part may be left out. */
export interface VerifierParts<User extends object> {
  /** What this instance remembers. */
  readonly cache?: SessionCache<User> | undefined;
  /** What all instances remember, behind the memory of this one; not without that. */
  readonly shared?: SharedTier<User> | undefined;
  readonly misconfiguration?: MisconfigurationDetector | undefined;
  readonly notifier?: RevocationNotifier | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
}

/** Decides on a session: remembered here, or else one shared flight to the shared memory and to the service, protected. */
export class SessionVerifier<User extends object> {
  readonly #check: ProtectedCheck<User>;
  readonly #cache: SessionCache<User> | undefined;
  readonly #shared: SharedTier<User> | undefined;
  readonly #misconfiguration: MisconfigurationDetector | undefined;
  readonly #flights: SingleFlight<Verdict<User>>;
  /** Flights of callers for whom only the service's word of now will do. */
  readonly #freshFlights: SingleFlight<Verdict<User>>;
  /** What becomes of sessions that end. */
  readonly revoker: SessionRevoker<User>;

  constructor(
    check: ProtectedCheck<User>,
    { cache: memory, shared, misconfiguration: suspicion, notifier: ended, onUsersRevoked: usersEnded }: VerifierParts<User> = {},
  ) {
    this.#check = check;
    this.#cache = memory;
    this.#shared = shared;
    this.#misconfiguration = suspicion;
    const landed = (keys: SessionKeys, verdict: Verdict<User>, tookMs: number): void => this.#record(keys, verdict, tookMs);
    this.#flights = new SingleFlight(landed);
    this.#freshFlights = shared ? new SingleFlight(landed) : this.#flights;
    const flights = [this.#flights, this.#freshFlights];
    this.revoker = new SessionRevoker(
      { cache: memory, notifier: ended, onUsersRevoked: usersEnded, known: check.known, flights },
      shared?.revocations,
    );
  }

  /**
   * Checks a session for one request. Returns `earlier`, the request's check before this one, if that satisfies `maxAgeMs` too: always
   * without a limit, and within a limit only if this request itself caused the call; for 10 seconds, because a request may last as long as
   * a stream. Its verdict never rejects.
   */
  check(session: SessionIdentity, maxAgeMs = Infinity, earlier?: SessionCheck<User>): SessionCheck<User> {
    const revocations = this.revoker.count;
    if (earlier?.verifier === this && earlier.revocations === revocations && canReuse(earlier, session, maxAgeMs)) return earlier;
    const keys = sessionKeysOf(session);
    const cached = this.#findCached(session, keys, maxAgeMs);
    const madeAtMs = performance.now();
    if (cached) return { verifier: this, session, verdict: cached, isFresh: false, madeAtMs, revocations };
    const mustBeFresh = this.#mustBeFresh(keys, maxAgeMs);
    const joins = (mustBeFresh ? this.#freshFlights : this.#flights).canJoin(keys, maxAgeMs);
    const asked = this.#ask(session, keys, maxAgeMs, mustBeFresh);
    const verdict = CHECKS.hasSubscribers ? reportCheck(asked, joins) : asked;
    const isFresh = !joins && (maxAgeMs !== Infinity || this.#asksServiceAlone);
    return { verifier: this, session, verdict, isFresh, madeAtMs, revocations };
  }

  /**
   * The verdict on a session, without a promise if it is cached and no older than `maxAgeMs`. Never rejects. Concurrent checks of one
   * session share one call; with a limit, a call that was sent no longer ago than that.
   */
  verify(session: SessionIdentity, maxAgeMs = Infinity): Verdict<User> | Promise<Verdict<User>> {
    return this.check(session, maxAgeMs).verdict;
  }

  /** How many sessions are remembered now; none without memory. It looks at each. */
  countCached(): number {
    return this.#cache?.count() ?? 0;
  }

  /** Asks the service now, sharing nothing, in the lane of the session unless it is given. A refusal ends what is remembered. */
  async ask(session: SessionIdentity, lane?: LaneName): Promise<Verdict<User>> {
    const keys = sessionKeysOf(session);
    const verdict = await this.#check.run(session, keys.tokenKey, 0, lane);
    this.#check.known.update(keys.tokenKey, verdict);
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden') {
      this.revoker.refused(keys.tokenKey, verdict.kind);
      this.#cache?.evict(keys.tokenKey);
    }
    return verdict;
  }

  /** Publishes and receives nothing more. */
  async close(): Promise<void> {
    await this.#shared?.close();
  }

  #findCached(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): ReturnType<SessionCache<User>['find']> {
    const cached = this.#cache?.find(keys, maxAgeMs);
    if (cached && CHECKS.hasSubscribers) reportCachedCheck(cached);
    if (cached?.kind === 'authenticated' && this.#cache?.tryRefresh(keys)) void this.#askAll('refresh', session, keys);
    return cached;
  }

  /** Whether a check without a limit takes the service's answer alone: not that of a store, nor a stale session. */
  get #asksServiceAlone(): boolean {
    return !this.#shared && !this.#cache?.servesStale;
  }

  async #ask(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number, mustBeFresh: boolean): Promise<Verdict<User>> {
    const verdict = await (mustBeFresh ? this.#askService(session, keys, maxAgeMs) : this.#askAll('check', session, keys));
    if (verdict.kind !== 'unavailable' || maxAgeMs !== Infinity) return verdict;
    const stale = this.#cache?.findStale(keys);
    return stale !== undefined ? { kind: 'authenticated', user: stale, stale: true } : verdict;
  }

  /** Of a token that was signed out too: whoever can write to a store could put back what was there before. */
  #mustBeFresh({ tokenKey }: SessionKeys, maxAgeMs: number): boolean {
    return maxAgeMs !== Infinity || this.#cache?.isRevoked(tokenKey) === true;
  }

  #askAll(way: 'check' | 'refresh', session: SessionIdentity, keys: SessionKeys): Promise<Verdict<User>> {
    const shared = this.#shared;
    const lane = way === 'refresh' ? 'known' : undefined;
    if (!shared) return this.#askService(session, keys, Infinity, lane);
    return this.#flights.share(keys, (flight) => shared[way](session, keys, this.#serviceCall(session, keys, lane), flight));
  }

  #serviceCall(session: SessionIdentity, { tokenKey }: SessionKeys, lane = this.#check.laneOf(tokenKey)): ServiceCall<User> {
    return {
      ask: (spentMs) => this.#check.run(session, tokenKey, spentMs, lane),
      patienceMs: this.#check.patienceMs(lane),
      timeoutMs: this.#check.timeoutMs,
    };
  }

  #askService(session: SessionIdentity, keys: SessionKeys, maxAgeMs = Infinity, lane?: LaneName): Promise<Verdict<User>> {
    return this.#freshFlights.share(keys, () => this.#check.run(session, keys.tokenKey, 0, lane), maxAgeMs);
  }

  #record(keys: SessionKeys, verdict: Verdict<User>, tookMs: number): void {
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden') this.revoker.refused(keys.tokenKey, verdict.kind);
    this.#check.known.update(keys.tokenKey, verdict);
    this.#cache?.update(keys, verdict, tookMs);
    this.#misconfiguration?.record(keys.tokenKey, verdict);
  }
}
