import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import {
  type BreakerSettings,
  type BreakerState,
  type CallResult,
  CircuitBreaker,
  type CircuitState,
  PROBE_MS,
} from './circuit-breaker.js';
import { type CallerKey, setNewest } from './known-sessions.js';

/**
 * Number of different callers whose calls must fail before a breaker opens, or `minimumCalls` if that is
 * less.
 */
const FAILING_CALLERS = 5;
/** With `breaker: false`, failures never open the circuit: only a 429 pauses it. */
const NO_BREAKER: BreakerSettings = {
  windowMs: 10_000,
  minimumCalls: Infinity,
  failureRatio: 1,
  pauseMs: 1_000,
  maxPauseMs: 1_000,
};
/** Longest pause for a 429, in milliseconds. */
const MAX_LIMIT_PAUSE_MS = 30_000;

/**
 * Stops the calls of a lane while the service fails, or limits their rate. It opens when, within `windowMs`,
 * at least `minimumCalls` calls were made, at least the part `failureRatio` of them failed, and the failures
 * include five different callers (`minimumCalls` if that is less). A caller is a user, or a token whose user
 * is unknown: one account whose calls always fail, in however many sessions, therefore cannot open it. Nor
 * can it keep the breaker open: a caller that failed may not probe in the first second after the pause.
 *
 * It also opens, for the service's `Retry-After`, when the service answers two callers with 429 and serves no
 * more others than that.
 */
export class LaneBreaker extends CircuitBreaker {
  readonly #failing: FailingCallers;
  readonly #limited = new LimitedCallers();
  readonly #countsFailures: boolean;

  /** `settings`: `undefined` if failures never open it. `onChange` is called with each new state. */
  constructor(
    settings: BreakerSettings | undefined,
    now?: () => number,
    onChange?: (state: BreakerState) => void,
  ) {
    super(settings ?? NO_BREAKER, now, onChange);
    const { windowMs, minimumCalls } = settings ?? NO_BREAKER;
    const callers = Math.min(FAILING_CALLERS, minimumCalls);
    this.#countsFailures = settings !== undefined;
    this.#failing = new FailingCallers({
      callers,
      failuresEach: Math.ceil(minimumCalls / callers),
      windowMs,
    });
  }

  /** Returns the denial of a call that may not be made now, or `undefined` if it may. */
  denial(caller: CallerKey): Unavailable | undefined {
    if (this.isClosed) return undefined;
    const mustWait = this.#failing.has(caller) || this.#limited.has(caller);
    const pauseLeftMs = this.pauseLeftMs() + (mustWait ? PROBE_MS : 0);
    return pauseLeftMs > 0
      ? unavailable(this.isLimited ? 'rate_limited' : 'circuit_open', pauseLeftMs / 1_000)
      : undefined;
  }

  recordCall(began: CircuitState, result: CallResult, caller: CallerKey, nowMs: number): void {
    if (result === 'success') this.#limited.served(caller);
    if (result !== 'failure' || !this.#countsFailures)
      this.record(began, result === 'failure' ? 'success' : result, nowMs);
    else {
      const counts = this.#failing.add(caller, nowMs) || !this.isClosed;
      this.record(began, counts ? result : 'neither', nowMs, this.#failing.areEnough);
    }
  }

  /**
   * Records that the service answered a call of this caller with 429, and asked to wait. The answer to a
   * probe counts by itself.
   */
  recordLimit(began: CircuitState, caller: CallerKey, retryAfterMs: number, nowMs: number): void {
    this.#limited.add(caller, nowMs);
    if (!this.isCurrent(began)) return;
    if (began.kind === 'closed' && !this.#limited.areMost) return;
    this.pause(Math.min(retryAfterMs, MAX_LIMIT_PAUSE_MS), nowMs);
  }
}

interface FailingCaller {
  /** Time of the first counted failure. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

interface FailingCallerLimits {
  /** Number of different callers that must fail within the window. */
  readonly callers: number;
  /** Maximum number of failures of one caller that count within a window. */
  readonly failuresEach: number;
  readonly windowMs: number;
}

/**
 * Maximum number of callers that are kept. More than one attacker has, because the failures of an evicted
 * caller would count again.
 */
const MAX_CALLERS = 256;

/**
 * The callers whose calls failed within the window. The failures of one caller count only up to a limit, so
 * that one account whose details always fail is not evidence against the service, however often it calls,
 * even after the breaker has closed again.
 */
class FailingCallers {
  readonly #limits: FailingCallerLimits;
  /** In order of their last failure, the oldest first. */
  readonly #callers = new Map<CallerKey, FailingCaller>();

  constructor(limits: FailingCallerLimits) {
    this.#limits = limits;
  }

  /** Records a failure, and returns whether it counts. */
  add(caller: CallerKey, nowMs: number): boolean {
    const { failuresEach, windowMs } = this.#limits;
    const before = this.#callers.get(caller);
    const { sinceMs, failures } =
      before && nowMs - before.sinceMs < windowMs ? before : { sinceMs: nowMs, failures: 0 };
    setNewest(this.#callers, caller, { sinceMs, lastMs: nowMs, failures: failures + 1 }, MAX_CALLERS);
    for (const [other, { lastMs }] of this.#callers) {
      if (nowMs - lastMs < windowMs) break;
      this.#callers.delete(other);
    }
    return failures < failuresEach;
  }

  /** Whether enough different callers failed within the window that ends with the last failure. */
  get areEnough(): boolean {
    return this.#callers.size >= this.#limits.callers;
  }

  has(caller: CallerKey): boolean {
    return this.#callers.has(caller);
  }
}

/** Milliseconds after the last 429 for which the callers are kept: ten of the longest pauses. */
const LIMITS_KEPT_MS = 300_000;

/**
 * The callers that the service answered since a first 429, with their last answer. If it serves more callers
 * than it answers with 429, the limits are theirs: they do not concern the lane.
 */
class LimitedCallers {
  /** Whether the last answer was a 429, by caller; the oldest answer first. Empty without a recent 429. */
  readonly #answers = new Map<CallerKey, boolean>();
  #lastMs = -Infinity;

  add(caller: CallerKey, nowMs: number): void {
    if (nowMs - this.#lastMs >= LIMITS_KEPT_MS) this.#answers.clear();
    this.#lastMs = nowMs;
    setNewest(this.#answers, caller, true, MAX_CALLERS);
  }

  /** Records any other answer. Costs nothing without a recent 429. */
  served(caller: CallerKey): void {
    if (this.#answers.size > 0) setNewest(this.#answers, caller, false, MAX_CALLERS);
  }

  /** Whether two callers were answered with 429, and no more than that otherwise. */
  get areMost(): boolean {
    let limited = 0;
    for (const isLimited of this.#answers.values()) if (isLimited) limited += 1;
    return limited >= 2 && limited * 2 >= this.#answers.size;
  }

  has(caller: CallerKey): boolean {
    return this.#answers.get(caller) === true;
  }
}

/**
 * Failures of the service: no connection (and a reply that is not HTTP, or whose head is too long), no answer
 * in time, 408 and 5xx.
 */
const FAILURES: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'timeout', 'server_error']);

/**
 * Returns what a call shows about the service. `success`: it answered, also with a refusal. `failure`: no
 * connection, no answer in time, 408 or 5xx. `neither`: any other status, 429 and a malformed 200, which
 * concern this request alone; a full queue, an open breaker, a failing `apiKey` function and a shutdown,
 * which are local; a connection that the service had closed; a call that timed out without its full time.
 */
export function callResultOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
