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

/** Different callers whose calls must fail before a breaker opens, or `minimumCalls` if that is less. */
const FAILING_CALLERS = 5;
/** Callers that are kept. More than one attacker has: the failures of an evicted caller would count again. */
const MAX_CALLERS = 256;
/** Longest pause for a 429, in milliseconds. */
const MAX_LIMIT_PAUSE_MS = 30_000;
/** Milliseconds after the last 429 for which the callers are kept: ten of the longest pauses. */
const LIMITS_KEPT_MS = 300_000;
/**
 * With `breaker: false`, only a 429 opens the circuit. No failure counts, so that these limits have no
 * effect.
 */
const NO_BREAKER: BreakerSettings = {
  windowMs: 10_000,
  minimumCalls: 20,
  failureRatio: 1,
  pauseMs: 1_000,
  maxPauseMs: 1_000,
};

interface FailingCaller {
  /** Time of the first counted failure. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/**
 * Stops the calls of a lane while the service fails, or limits their rate. It opens only for the failures of
 * several callers, of which each counts up to a limit, even after the breaker has closed again: one account
 * whose calls always fail, in however many sessions, cannot open it. Nor can it keep the breaker open: a
 * caller that failed may not probe in the first second after the pause.
 *
 * It also opens, for the service's `Retry-After`, when the service answers two callers with 429 and serves no
 * more others than that.
 */
export class LaneBreaker extends CircuitBreaker {
  readonly #countsFailures: boolean;
  readonly #windowMs: number;
  readonly #minCallers: number;
  /** Maximum number of failures of one caller that count within a window. */
  readonly #failuresEach: number;
  /** The callers that failed within the window, in order of their last failure, the oldest first. */
  readonly #failing = new Map<CallerKey, FailingCaller>();
  /**
   * Whether the last answer was a 429, of the callers that the service answered since a first 429; the oldest
   * answer first. Empty without a recent 429.
   */
  readonly #limited = new Map<CallerKey, boolean>();
  #limitedAtMs = -Infinity;

  /** `settings`: `undefined` if failures never open it. */
  constructor(settings: BreakerSettings | undefined, onChange?: (state: BreakerState) => void) {
    super(settings ?? NO_BREAKER, onChange);
    const { windowMs, minimumCalls } = settings ?? NO_BREAKER;
    this.#countsFailures = settings !== undefined;
    this.#windowMs = windowMs;
    this.#minCallers = Math.min(FAILING_CALLERS, minimumCalls);
    this.#failuresEach = Math.ceil(minimumCalls / this.#minCallers);
  }

  /** Returns the denial of a call that may not be made now, or `undefined` if it may. */
  denial(caller: CallerKey): Unavailable | undefined {
    if (this.isClosed) return undefined;
    const mustWait = this.#failing.has(caller) || this.#limited.get(caller) === true;
    const pauseLeftMs = this.pauseLeftMs() + (mustWait ? PROBE_MS : 0);
    return pauseLeftMs > 0
      ? unavailable(this.isLimited ? 'rate_limited' : 'circuit_open', pauseLeftMs / 1_000)
      : undefined;
  }

  /**
   * Records the verdict of a call. `hadFullTime`: whether a timeout is evidence. A 429 to a probe counts by
   * itself.
   */
  recordCall(began: CircuitState, verdict: Verdict<unknown>, caller: CallerKey, hadFullTime: boolean): void {
    const nowMs = performance.now();
    if (verdict.kind === 'unavailable' && verdict.reason === 'rate_limited') {
      const isOfLane = this.#addLimit(caller, nowMs) || began.kind !== 'closed';
      const pauseMs = Math.min(verdict.retryAfterSeconds * 1_000, MAX_LIMIT_PAUSE_MS);
      if (isOfLane) this.pause(began, pauseMs, nowMs);
      return;
    }
    const result = callResultOf(verdict, hadFullTime);
    if (result === 'success' && this.#limited.size > 0) setNewest(this.#limited, caller, false, MAX_CALLERS);
    if (result !== 'failure') this.record(began, result, nowMs);
    else if (!this.#countsFailures) this.record(began, 'success', nowMs);
    else {
      const counts = this.#addFailure(caller, nowMs) || !this.isClosed;
      this.record(began, counts ? result : 'neither', nowMs, this.#failing.size >= this.#minCallers);
    }
  }

  /** Returns whether the failure counts. */
  #addFailure(caller: CallerKey, nowMs: number): boolean {
    const before = this.#failing.get(caller);
    const { sinceMs, failures } =
      before && nowMs - before.sinceMs < this.#windowMs ? before : { sinceMs: nowMs, failures: 0 };
    setNewest(this.#failing, caller, { sinceMs, lastMs: nowMs, failures: failures + 1 }, MAX_CALLERS);
    for (const [other, { lastMs }] of this.#failing) {
      if (nowMs - lastMs < this.#windowMs) break;
      this.#failing.delete(other);
    }
    return failures < this.#failuresEach;
  }

  /** Returns whether the limit is of the lane: two callers got a 429, and no more were served since. */
  #addLimit(caller: CallerKey, nowMs: number): boolean {
    if (nowMs - this.#limitedAtMs >= LIMITS_KEPT_MS) this.#limited.clear();
    this.#limitedAtMs = nowMs;
    setNewest(this.#limited, caller, true, MAX_CALLERS);
    const limited = [...this.#limited.values()].filter(Boolean).length;
    return limited >= 2 && limited * 2 >= this.#limited.size;
  }
}

const FAILURES: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'timeout', 'server_error']);

/**
 * Returns what a call shows about the service. `success`: it answered, also with a refusal. `failure`: no
 * connection (or a reply that is not HTTP, or whose head is too long), no answer in time, 408 or 5xx.
 * `neither`: any other status, 429 and a malformed 200, which concern this request alone; a full queue, an
 * open breaker, a failing `apiKey` function and a shutdown, which are local; a connection that the service
 * had closed; a call that timed out without its full time.
 */
export function callResultOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
