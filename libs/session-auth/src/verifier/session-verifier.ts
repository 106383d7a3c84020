import { CHECKS, type LaneName } from '../contract/diagnostics.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/verdict.js';
import { reportAsked, reportRemembered } from './check-report.js';
import type { EndedSessions } from './ended-sessions.js';
import type { ProtectedCheck } from './protected-check.js';
import { canReuse, type SessionCheck } from './session-check.js';
import { sessionKeys, type SessionKeys } from './session-key.js';
import type { SessionMemory } from './session-memory.js';
import type { ServiceCall, SharedTier } from './shared/shared-tier.js';
import { SessionEndings } from './session-endings.js';
import { SingleFlight } from './single-flight.js';
import type { Suspicion } from './suspicion.js';

/** What a verifier works with, beside the check itself. Each part may be left out. */
export interface VerifierParts<User extends object | string | number | true> {
  /** What this instance remembers. */
  readonly memory?: SessionMemory<User> | undefined;
  /** What all instances remember, behind the memory of this one; not without that. */
  readonly shared?: SharedTier<User> | undefined;
  readonly suspicion?: Suspicion | undefined;
  readonly ended?: EndedSessions | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly usersEnded?: ((username: string | undefined) => void) | undefined;
}

/** Decides on a session: remembered here, or else one shared flight to the shared memory and to the service, protected. */
export class SessionVerifier<User extends object | string | number | true> {
  readonly #check: ProtectedCheck<User>;
  readonly #memory: SessionMemory<User> | undefined;
  readonly #shared: SharedTier<User> | undefined;
  readonly #suspicion: Suspicion | undefined;
  readonly #flights: SingleFlight<Verdict<User>>;
  /** Flights of callers for whom only the service's word of now will do. */
  readonly #freshFlights: SingleFlight<Verdict<User>>;
  /** What becomes of sessions that end. */
  readonly endings: SessionEndings<User>;

  constructor(check: ProtectedCheck<User>, { memory, shared, suspicion, ended, usersEnded }: VerifierParts<User> = {}) {
    this.#check = check;
    this.#memory = memory;
    this.#shared = shared;
    this.#suspicion = suspicion;
    const landed = (keys: SessionKeys, verdict: Verdict<User>, tookMs: number): void => this.#learn(keys, verdict, tookMs);
    this.#flights = new SingleFlight(landed);
    this.#freshFlights = shared ? new SingleFlight(landed) : this.#flights;
    const flights = [this.#flights, this.#freshFlights];
    this.endings = new SessionEndings({ memory, ended, usersEnded, known: check.known, flights }, shared?.revocations);
  }

  /**
   * Checks a session for one request. Returns `earlier`, the request's check before this one, if that satisfies `maxAgeMs` too: always
   * without a limit, and within a limit only if this request itself caused the call; for 10 seconds, because a request may last as long as
   * a stream. Its verdict never rejects.
   */
  check(session: SessionIdentity, maxAgeMs = Infinity, earlier?: SessionCheck<User>): SessionCheck<User> {
    const revocations = this.endings.count;
    if (earlier?.verifier === this && earlier.revocations === revocations && canReuse(earlier, session, maxAgeMs)) return earlier;
    const keys = sessionKeys(session);
    const cached = this.#findCached(session, keys, maxAgeMs);
    const madeAtMs = performance.now();
    if (cached) return { verifier: this, session, verdict: cached, isFresh: false, madeAtMs, revocations };
    const mustBeFresh = this.#mustBeFresh(keys, maxAgeMs);
    const joins = (mustBeFresh ? this.#freshFlights : this.#flights).canJoin(keys, maxAgeMs);
    const asked = this.#ask(session, keys, maxAgeMs, mustBeFresh);
    const verdict = CHECKS.hasSubscribers ? reportAsked(asked, joins) : asked;
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
  countRemembered(): number {
    return this.#memory?.count() ?? 0;
  }

  /** Asks the service now, sharing nothing, in the lane of the session unless it is given. A refusal ends what is remembered. */
  async ask(session: SessionIdentity, lane?: LaneName): Promise<Verdict<User>> {
    const keys = sessionKeys(session);
    const verdict = await this.#check.run(session, keys.token, 0, lane);
    this.#check.known.learn(keys.token, verdict);
    if (verdict.kind === 'rejected' || verdict.kind === 'denied') {
      this.endings.refused(keys.token, verdict.kind);
      this.#memory?.forget(keys.token);
    }
    return verdict;
  }

  /** Publishes and receives nothing more. */
  async close(): Promise<void> {
    await this.#shared?.close();
  }

  #findCached(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): ReturnType<SessionMemory<User>['find']> {
    const cached = this.#memory?.find(keys, maxAgeMs);
    if (cached && CHECKS.hasSubscribers) reportRemembered(cached);
    if (cached?.kind === 'accepted' && this.#memory?.claimRefresh(keys)) void this.#askAll('renew', session, keys);
    return cached;
  }

  /** Whether a check without a limit takes the service's answer alone: not that of a store, nor a stale session. */
  get #asksServiceAlone(): boolean {
    return !this.#shared && !this.#memory?.servesStale;
  }

  async #ask(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number, mustBeFresh: boolean): Promise<Verdict<User>> {
    const verdict = await (mustBeFresh ? this.#askService(session, keys, maxAgeMs) : this.#askAll('check', session, keys));
    if (verdict.kind !== 'unavailable' || maxAgeMs !== Infinity) return verdict;
    const stale = this.#memory?.findStale(keys);
    return stale !== undefined ? { kind: 'accepted', user: stale, stale: true } : verdict;
  }

  /** Of a token that was signed out too: whoever can write to a store could put back what was there before. */
  #mustBeFresh({ token }: SessionKeys, maxAgeMs: number): boolean {
    return maxAgeMs !== Infinity || this.#memory?.isBarred(token) === true;
  }

  #askAll(way: 'check' | 'renew', session: SessionIdentity, keys: SessionKeys): Promise<Verdict<User>> {
    const shared = this.#shared;
    const lane = way === 'renew' ? 'known' : undefined;
    if (!shared) return this.#askService(session, keys, Infinity, lane);
    return this.#flights.share(keys, (flight) => shared[way](session, keys, this.#serviceCall(session, keys, lane), flight));
  }

  #serviceCall(session: SessionIdentity, { token }: SessionKeys, lane = this.#check.laneOf(token)): ServiceCall<User> {
    return {
      ask: (spentMs) => this.#check.run(session, token, spentMs, lane),
      patienceMs: this.#check.patienceMs(lane),
      timeoutMs: this.#check.timeoutMs,
    };
  }

  #askService(session: SessionIdentity, keys: SessionKeys, maxAgeMs = Infinity, lane?: LaneName): Promise<Verdict<User>> {
    return this.#freshFlights.share(keys, () => this.#check.run(session, keys.token, 0, lane), maxAgeMs);
  }

  #learn(keys: SessionKeys, verdict: Verdict<User>, tookMs: number): void {
    if (verdict.kind === 'rejected' || verdict.kind === 'denied') this.endings.refused(keys.token, verdict.kind);
    this.#check.known.learn(keys.token, verdict);
    this.#memory?.learn(keys, verdict, tookMs);
    this.#suspicion?.observe(keys.token, verdict);
  }
}
