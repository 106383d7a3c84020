import { CHECKS } from '../contract/diagnostics.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/verdict.js';
import { reportAsked, reportRemembered } from './check-report.js';
import type { EndedSessions } from './ended-sessions.js';
import type { ProtectedCheck } from './protected-check.js';
import { sessionKeys, type SessionKeys } from './session-key.js';
import type { SessionMemory } from './session-memory.js';
import type { SharedTier } from './shared/shared-tier.js';
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

  constructor(check: ProtectedCheck<User>, { memory, shared, suspicion, ended }: VerifierParts<User> = {}) {
    this.#check = check;
    this.#memory = memory;
    this.#shared = shared;
    this.#suspicion = suspicion;
    const landed = (keys: SessionKeys, verdict: Verdict<User>): void => this.#learn(keys, verdict);
    this.#flights = new SingleFlight(landed);
    this.#freshFlights = shared ? new SingleFlight(landed) : this.#flights;
    this.endings = new SessionEndings({ memory, shared, ended, flights: [this.#flights, this.#freshFlights] });
  }

  /**
   * The verdict on a session, at once if it is remembered and no older than `maxAgeMs`. Never rejects.
   * Concurrent checks of one session share one call.
   */
  verify(session: SessionIdentity, maxAgeMs = Infinity): Verdict<User> | Promise<Verdict<User>> {
    const keys = sessionKeys(session);
    const remembered = this.#memory?.find(keys, maxAgeMs);
    if (!remembered) return CHECKS.hasSubscribers ? this.#askAndReport(session, keys, maxAgeMs) : this.#ask(session, keys, maxAgeMs);
    if (CHECKS.hasSubscribers) reportRemembered(remembered);
    if (remembered.kind === 'accepted' && this.#memory?.claimRefresh(keys)) void this.#askAll('renew', session, keys);
    return remembered;
  }

  /** How many sessions are remembered now; none without memory. It looks at each. */
  countRemembered(): number {
    return this.#memory?.count() ?? 0;
  }

  /** Asks the service now, sharing nothing. A refusal ends what is remembered. */
  async ask(session: SessionIdentity): Promise<Verdict<User>> {
    const verdict = await this.#check.run(session);
    if (verdict.kind === 'rejected' || verdict.kind === 'denied') {
      const keys = sessionKeys(session);
      this.endings.refused(keys.token, verdict.kind);
      this.#memory?.forget(keys.token);
    }
    return verdict;
  }

  #askAndReport(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<Verdict<User>> {
    const flights = this.#mustBeFresh(keys, maxAgeMs) ? this.#freshFlights : this.#flights;
    const joined = flights.isUnderWay(keys);
    return reportAsked(this.#ask(session, keys, maxAgeMs), joined);
  }

  async #ask(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<Verdict<User>> {
    const verdict = await (this.#mustBeFresh(keys, maxAgeMs) ? this.#askService(session, keys) : this.#askAll('check', session, keys));
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
    if (!shared) return this.#askService(session, keys);
    return this.#flights.share(keys, () => shared[way](session, keys, (spentMs) => this.#check.run(session, spentMs)));
  }

  #askService(session: SessionIdentity, keys: SessionKeys): Promise<Verdict<User>> {
    return this.#freshFlights.share(keys, () => this.#check.run(session));
  }

  #learn(keys: SessionKeys, verdict: Verdict<User>): void {
    if (verdict.kind === 'rejected' || verdict.kind === 'denied') this.endings.refused(keys.token, verdict.kind);
    this.#memory?.learn(keys, verdict);
    void this.#shared?.learn(keys, verdict);
    this.#suspicion?.observe(keys.token, verdict);
  }
}
