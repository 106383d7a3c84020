import { type CheckMessage, CHECKS, type LaneName } from '../contract/diagnostics.js';
import {
  isSameSession,
  sessionKeysOf,
  type SessionIdentity,
  type SessionKeys,
} from '../contract/session-identity.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { Lanes } from './lanes.js';
import { ageMs } from './clock-steps.js';
import type { ServiceStatusTracker } from './service-status.js';
import type { SessionCache } from './session-cache.js';
import type { SharedTier } from './shared-tier.js';
import { SessionRevoker, type SessionRevokerParts } from './session-revoker.js';
import { type Flight, type FlightDemand, SingleFlight } from './single-flight.js';

export interface SessionCheck<User> {
  readonly verifier: object;
  readonly session: SessionIdentity;
  readonly verdict: Verdict<User> | Promise<Verdict<User>>;
  /** Whether the verdict comes from a call of the service that this check started. */
  readonly isFresh: boolean;
  readonly madeAtMs: number;
  readonly madeAtWallMs: number;
  /** The revoker's count at the time of the check. */
  readonly revocations: number;
}

/** Longest time that the guards of one request share a check: a request may last as long as a stream. */
const MAX_REUSE_MS = 10_000;
const BUSY = unavailable('busy', 1);

/**
 * Checks sessions: by the session cache, or else by one flight to the shared tier and the session service.
 */
export class SessionVerifier<User extends object> {
  readonly #lanes: Lanes<User>;
  readonly #cache: SessionCache<User> | undefined;
  readonly #shared: SharedTier<User> | undefined;
  readonly #status: VerifierParts<User>['status'];
  readonly #flights = new SingleFlight<Verdict<User>>(BUSY, this.#landed.bind(this));
  readonly revoker: SessionRevoker<User>;

  constructor(lanes: Lanes<User>, parts: VerifierParts<User> = {}) {
    const { cache, shared, status } = parts;
    this.#lanes = lanes;
    this.#cache = cache;
    this.#shared = shared;
    this.#status = status;
    this.revoker = new SessionRevoker({ ...parts, known: lanes.known, flights: this.#flights });
  }

  /**
   * Checks a session for one request. Returns `earlier`, the previous check of the request, if it satisfies
   * `maxAgeMs` too: with a limit, only if it started the call. The verdict never rejects.
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
    if (cached) {
      if (CHECKS.hasSubscribers) this.#report(cached, 'cache', false, 0);
      if (cached.kind === 'authenticated' && this.#cache?.tryRefresh(keys))
        void this.#share('refresh', session, keys, { byService: !this.#shared });
    }
    const { verdict, isFresh } = cached
      ? { verdict: cached, isFresh: false }
      : this.#checkByFlight(session, keys, maxAgeMs);
    return { verifier: this, session, verdict, isFresh, madeAtMs, madeAtWallMs, revocations };
  }

  /**
   * Returns the verdict on a session, without a promise if it is cached and no older than `maxAgeMs`. Never
   * rejects. Concurrent checks share one call; with a limit, one that was sent within `maxAgeMs`.
   */
  verify(session: SessionIdentity, maxAgeMs = Infinity): Verdict<User> | Promise<Verdict<User>> {
    return this.check(session, maxAgeMs).verdict;
  }

  countCached(): number {
    return this.#cache?.count() ?? 0;
  }

  /** Calls the service without joining a flight. `lane`: by default, that of the session. */
  async callService(session: SessionIdentity, lane?: LaneName): Promise<Verdict<User>> {
    const keys = sessionKeysOf(session);
    this.revoker.checkBegins(keys.tokenKey);
    const verdict = await this.#lanes.call(session, keys, 0, lane);
    this.#record(keys, verdict);
    return verdict;
  }

  async close(): Promise<void> {
    await this.#shared?.close();
  }

  #checkByFlight(
    session: SessionIdentity,
    keys: SessionKeys,
    maxAgeMs: number,
  ): Pick<SessionCheck<User>, 'verdict' | 'isFresh'> {
    this.revoker.checkBegins(keys.tokenKey);
    const isLimited = maxAgeMs !== Infinity;
    const servesStale = !isLimited && this.#cache?.servesStale === true;
    // A revoked token is also checked by the service: a writer of the store could restore its old entry.
    const byService = isLimited || !this.#shared || this.#cache?.hasTombstone(keys.tokenKey) === true;
    const { access, result } = this.#share('check', session, keys, { maxAgeMs, byService });
    if (access === 'full') this.#record(keys, BUSY);
    let verdict = access === 'waits' ? this.#lanes.within(result) : result;
    if (servesStale) verdict = this.#orStale(verdict, keys);
    if (CHECKS.hasSubscribers) verdict = this.#reported(verdict, access !== 'starts');
    const isFresh = access !== 'joins' && (isLimited || (!this.#shared && !servesStale));
    return { verdict, isFresh };
  }

  async #orStale(pending: Promise<Verdict<User>>, keys: SessionKeys): Promise<Verdict<User>> {
    const verdict = await pending;
    const stale = verdict.kind === 'unavailable' ? this.#cache?.findStale(keys) : undefined;
    return stale !== undefined ? { kind: 'authenticated', user: stale, stale: true } : verdict;
  }

  async #reported(pending: Promise<Verdict<User>>, joined: boolean): Promise<Verdict<User>> {
    const startMs = performance.now();
    const verdict = await pending;
    const { confirmedAtMs, stale } = verdict.kind === 'authenticated' ? verdict : {};
    const source = confirmedAtMs !== undefined ? 'store' : stale ? 'cache' : 'service';
    this.#report(verdict, source, joined, performance.now() - startMs);
    return verdict;
  }

  #report(verdict: Verdict<User>, source: CheckMessage['source'], joined: boolean, durationMs: number): void {
    CHECKS.publish({
      outcome: verdict.kind,
      source,
      joined,
      stale: verdict.kind === 'authenticated' && verdict.stale === true,
      reason: verdict.kind === 'unavailable' ? verdict.reason : undefined,
      durationMs,
    });
  }

  #share(
    mode: 'check' | 'refresh',
    session: SessionIdentity,
    keys: SessionKeys,
    demand: FlightDemand,
  ): ReturnType<SingleFlight<Verdict<User>>['share']> {
    const shared = demand.byService ? undefined : this.#shared;
    const forced = mode === 'refresh' ? 'known' : undefined;
    const call = (spentMs: number): Promise<Verdict<User>> =>
      this.#lanes.call(session, keys, spentMs, forced);
    const work = (flight: Flight): Promise<Verdict<User>> =>
      shared ? shared[mode](session, keys, call, flight) : call(0);
    return this.#flights.share(keys, work, demand);
  }

  #landed(keys: SessionKeys, verdict: Verdict<User>, { isCurrent, startedAtMs }: Flight): void {
    if (isCurrent) {
      this.#record(keys, verdict);
      this.#cache?.update(keys, verdict, startedAtMs);
    } else if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden') {
      // The newer flight may get no answer: the session must not be served as stale then.
      this.#cache?.evictAuthenticated(keys.tokenKey, startedAtMs);
    }
  }

  /** Records a verdict, before the session cache does. An answer of the store says nothing of the service. */
  #record(keys: SessionKeys, verdict: Verdict<User>): void {
    const { known } = this.#lanes;
    const { tokenKey } = keys;
    if (verdict.kind === 'unauthenticated' || verdict.kind === 'forbidden')
      this.revoker.refused(tokenKey, verdict.kind);
    if (verdict.kind !== 'authenticated') {
      const { lane, caller } = known.find(keys);
      this.#status?.record(verdict, tokenKey, lane === 'known' ? caller : undefined);
    } else if (verdict.confirmedAtMs === undefined) this.#status?.record(verdict, tokenKey);
    known.update(keys, verdict);
  }
}

/** The shared tier is looked up after the cache, and requires it. */
export interface VerifierParts<User extends object> extends Omit<
  SessionRevokerParts<User>,
  'known' | 'flights'
> {
  readonly status?: Pick<ServiceStatusTracker, 'record'> | undefined;
}

function canReuse(
  { session, isFresh, madeAtMs, madeAtWallMs }: SessionCheck<unknown>,
  presented: SessionIdentity,
  maxAgeMs: number,
): boolean {
  if (!isSameSession(session, presented) || !(isFresh || maxAgeMs === Infinity)) return false;
  return ageMs(madeAtMs, madeAtWallMs) < MAX_REUSE_MS;
}
