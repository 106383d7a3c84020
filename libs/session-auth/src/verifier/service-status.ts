import { type ActiveCause, AFFECTED, type CauseReports } from '../contract/causes.js';
import type { CallMessage, LaneName } from '../contract/diagnostics.js';
import type { UnavailableReason, Verdict } from '../contract/outcome.js';
import type { TokenKey } from '../contract/session-identity.js';
import type { BreakerState } from './circuit-breaker.js';
import type { CallerKey } from './known-sessions.js';

/**
 * The state of the session service, as this instance sees it.
 *
 * - `down`: the breaker of known sessions is open, for the time of its pause; or the last three checks of
 * known sessions failed, however long ago, and none was answered since.
 * - `degraded`: that pause is over and the next call is a probe, the breaker of strangers is not closed, the
 * service refuses everyone (the key or the URL is probably wrong), the revocations of other instances do not
 * arrive, or another cause of denials is active; for failed calls, after three, in a row or of several callers.
 * - `up`: none of these.
 *
 * Requests of strangers alone never make it `down`.
 */
export type ServiceState = 'up' | 'degraded' | 'down';

/** The state of the session service, and the conditions that determine it. */
export interface ServiceStatus {
  /** Derived from the members below. */
  readonly state: ServiceState;
  /** The circuit breaker of each lane; with `breaker: false`, only a pause for a 429 opens it. */
  readonly breakers: Readonly<Record<LaneName, BreakerState>>;
  /**
   * Whether the key or the URL is probably wrong: every token, or every sign-in, has been refused since startup,
   * or sessions of several users that were accepted before are refused, and none was accepted since.
   */
  readonly misconfigurationSuspected: boolean;
  /** Whether revocations of other instances arrive. */
  readonly revocationBus: RevocationBusStatus;
  /** Checks of known sessions that failed since the service last answered one. */
  readonly failedChecks: number;
  /** Causes of denials, and of late revocations, that are not over. Their counts are live. */
  readonly causes: readonly ActiveCause[];
  /** Set with `reportOnly` or `@ReportOnly()`: the guard denies nothing there. */
  readonly reportOnly?: true;
}

/**
 * `off`: there is no `cache.store`. `interrupted`: revocations of other instances take effect here after
 * `cache.ttlMs` at the latest.
 */
export type RevocationBusState = 'off' | 'connected' | 'interrupted';

/** The channel that carries revocations between instances. */
export interface RevocationBusStatus {
  /** Whether revocations of other instances arrive. */
  readonly state: RevocationBusState;
  /**
   * Number of messages since startup that no secret opens: their senders have another secret or another
   * `baseUrl`.
   */
  readonly unreadableMessages: number;
}

export const UP: ServiceStatus = {
  state: 'up',
  breakers: { known: 'closed', strangers: 'closed' },
  misconfigurationSuspected: false,
  revocationBus: { state: 'off', unreadableMessages: 0 },
  failedChecks: 0,
  causes: [],
};

/** Number of checks of known sessions that must fail, without an answer in between. */
const FAILED_CHECKS = 3;
/** Reasons that may concern one user: they make the state `down` if the checks of several fail. */
const OF_ONE_USER: ReadonlySet<UnavailableReason> = new Set([
  'malformed',
  'unexpected_status',
  'rate_limited',
]);

export interface CallReports extends Pick<CauseReports, 'occurred' | 'recovered'> {
  /** `caller`: the user, of a known session. */
  callFailed(operation: CallMessage['operation'], reason: UnavailableReason, caller?: unknown): void;
  callAnswered(operation: CallMessage['operation'], isAccepted: boolean): void;
}

export class ServiceStatusTracker {
  readonly #publish: (status: ServiceStatus) => void;
  readonly #causes: CallReports;
  readonly #misconfiguration: MisconfigurationDetector;
  readonly #failing = new Set<CallerKey>();
  #refusedSignIns = 0;
  #isOutage = false;
  #areDegrading = false;
  #status = UP;

  constructor(publish: (status: ServiceStatus) => void, causes: CallReports) {
    this.#publish = publish;
    this.#causes = causes;
    this.#misconfiguration = new MisconfigurationDetector((sign) =>
      causes.occurred('key refused', '', ...REFUSED[sign]),
    );
  }

  /** Records a verdict of the service. `caller`: the user of a known session, or else its token. */
  record(verdict: Verdict<unknown>, tokenKey: TokenKey, caller?: CallerKey): void {
    const { kind } = verdict;
    const { isSuspected } = this.#misconfiguration;
    this.#misconfiguration.record(tokenKey, verdict, caller === tokenKey ? undefined : caller);
    if (kind === 'unavailable') {
      this.#causes.callFailed('user_details', verdict.reason, caller);
      if (caller !== undefined) this.#checkFailed(verdict.reason, caller);
      return;
    }
    const { failedChecks, causes } = this.#status;
    if (failedChecks > 0) {
      this.#failing.clear();
      this.#isOutage = false;
      this.#update({ failedChecks: 0 });
    }
    if (causes.length === 0) return;
    this.#causes.callAnswered('user_details', kind === 'authenticated');
    if (kind !== 'authenticated') {
      if (isSuspected) this.#causes.occurred('key refused');
      return;
    }
    this.#causes.recovered('key refused');
    this.#causes.recovered('key refused', SIGN_INS);
  }

  /** Records a sign-in. A refusal, of the password or the key, is no sign once anyone was accepted. */
  signInAnswered(isAccepted: boolean): void {
    this.#refusedSignIns = isAccepted ? -Infinity : this.#refusedSignIns + 1;
    if (isAccepted) this.#causes.recovered('key refused', SIGN_INS);
    else if (this.#refusedSignIns >= MIN_REFUSED && !this.#misconfiguration.wasAccepted)
      this.#causes.occurred('key refused', SIGN_INS, 'every sign-in has been refused since startup', '');
  }

  setReportOnly(): void {
    this.#update({ reportOnly: true });
  }

  setBreaker(lane: LaneName, state: BreakerState): void {
    const { breakers } = this.#status;
    if (breakers[lane] !== state) this.#update({ breakers: { ...breakers, [lane]: state } });
  }

  setRevocationBus(state: RevocationBusState): void {
    const { revocationBus } = this.#status;
    if (revocationBus.state !== state) this.#update({ revocationBus: { ...revocationBus, state } });
  }

  countUnreadableMessage(): void {
    const { revocationBus } = this.#status;
    const unreadableMessages = revocationBus.unreadableMessages + 1;
    this.#update({ revocationBus: { ...revocationBus, unreadableMessages } });
  }

  setCauses(causes: readonly ActiveCause[], areDegrading: boolean): void {
    this.#areDegrading = areDegrading;
    const misconfigurationSuspected = causes.some(
      ({ cause, isRecovering }) => cause === 'key refused' && !isRecovering,
    );
    this.#update({ causes, misconfigurationSuspected });
  }

  #checkFailed(reason: UnavailableReason, caller: CallerKey): void {
    if (reason === 'busy' || reason === 'shutting_down') return;
    if (this.#failing.size < FAILED_CHECKS) this.#failing.add(caller);
    this.#isOutage ||= !OF_ONE_USER.has(reason) || this.#failing.size > 1;
    this.#update({ failedChecks: this.#status.failedChecks + 1 });
  }

  #update(change: Partial<Omit<ServiceStatus, 'state'>>): void {
    const status = { ...this.#status, ...change };
    this.#status = { ...status, state: this.#stateOf(status) };
    this.#publish(this.#status);
  }

  #stateOf(status: Omit<ServiceStatus, 'state'>): ServiceState {
    const { breakers, revocationBus, failedChecks } = status;
    if (breakers.known === 'open' || (this.#isOutage && failedChecks >= FAILED_CHECKS)) return 'down';
    const isDegraded =
      breakers.known === 'halfOpen' ||
      breakers.strangers !== 'closed' ||
      revocationBus.state === 'interrupted' ||
      this.#areDegrading;
    return isDegraded ? 'degraded' : 'up';
  }
}

/** Tokens, or sign-ins, that must be refused without one success: then the key or the URL is wrong. */
const MIN_REFUSED = 20;
const SIGN_INS = AFFECTED.sign_in;
/** Number of users, or of tokens of unknown users, that must be refused with 403. */
const MIN_FORBIDDEN_CALLERS = 3;
/** Users whose sessions must be refused with 401 within {@link ENDINGS_MS}: a few sessions also end. */
const MIN_ENDED_USERS = 5;
const ENDINGS_MS = 60_000;

export type Misconfiguration = 'since startup' | 'after acceptance';

/** Who is refused, and what else may be the reason. */
const REFUSED: Readonly<Record<Misconfiguration, [string, string]>> = {
  'since startup': ['every token has been refused since startup', ''],
  'after acceptance': [
    'the session service refuses several users, and has accepted sessions before',
    ' now, or it has ended all sessions',
  ],
};

/** The refusals since a session was accepted. */
interface Refusals {
  readonly tokens: Set<TokenKey>;
  readonly forbidden: Set<unknown>;
  /** When sessions of each user last got 401. */
  readonly endedUsers: Map<unknown, number>;
}

/** Detects that the service refuses everyone, at startup or later. It does not affect verdicts. */
export class MisconfigurationDetector {
  readonly #onSign: (sign: Misconfiguration) => void;
  #refusals: Refusals | undefined;
  wasAccepted = false;
  isSuspected = false;

  /** `onSign` is called at the first sign, and at the first after a session was accepted. */
  constructor(onSign: (sign: Misconfiguration) => void) {
    this.#onSign = onSign;
  }

  /**
   * `knownUser`: set if the session was accepted before. One user, however many sessions it has, is no sign.
   */
  record(tokenKey: TokenKey, { kind }: Verdict<unknown>, knownUser?: unknown): void {
    if (kind === 'authenticated') {
      this.wasAccepted = true;
      this.isSuspected = false;
      this.#refusals = undefined;
    } else if (kind !== 'unavailable' && !this.isSuspected) this.#refused(tokenKey, kind, knownUser);
  }

  #refused(tokenKey: TokenKey, kind: 'unauthenticated' | 'forbidden', knownUser: unknown): void {
    this.#refusals ??= { tokens: new Set(), forbidden: new Set(), endedUsers: new Map() };
    const { tokens, forbidden, endedUsers } = this.#refusals;
    if (!this.wasAccepted) tokens.add(tokenKey);
    if (kind === 'forbidden') forbidden.add(knownUser ?? tokenKey);
    else if (knownUser !== undefined) addEnd(endedUsers, knownUser);
    const areForbidden = forbidden.size >= MIN_FORBIDDEN_CALLERS;
    if (tokens.size >= MIN_REFUSED || (areForbidden && !this.wasAccepted)) this.#suspect('since startup');
    else if (areForbidden || endedUsers.size >= MIN_ENDED_USERS) this.#suspect('after acceptance');
  }

  #suspect(sign: Misconfiguration): void {
    this.isSuspected = true;
    this.#refusals = undefined;
    this.#onSign(sign);
  }
}

function addEnd(endedUsers: Map<unknown, number>, user: unknown): void {
  const nowMs = performance.now();
  endedUsers.set(user, nowMs);
  for (const [other, atMs] of endedUsers) if (atMs <= nowMs - ENDINGS_MS) endedUsers.delete(other);
}
