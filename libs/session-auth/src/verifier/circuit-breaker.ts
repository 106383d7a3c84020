import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import { type CallerKey, setNewest } from './known-sessions.js';

/** When a circuit breaker opens, and for how long. */
export interface BreakerSettings {
  /** Milliseconds of the window in which calls are counted. 10 to 300 000. @default 10000 */
  readonly windowMs: number;
  /** Minimum number of calls within the window before the breaker may open. 1 to 1 000 000. @default 20 */
  readonly minimumCalls: number;
  /** Part of the calls, above 0 and up to 1, that must fail for the breaker to open. @default 0.5 */
  readonly failureRatio: number;
  /** Milliseconds of the first pause; it doubles while probes fail. 1 to 120 000. @default 1000 */
  readonly pauseMs: number;
  /** Milliseconds of the longest pause: `pauseMs` to 120 000. @default 30000 */
  readonly maxPauseMs: number;
}

/**
 * `closed`: every call passes. `open`: no call passes. `halfOpen`: the pause is over, and a single probe
 * passes.
 */
export type BreakerState = 'closed' | 'open' | 'halfOpen';

interface Interrupted {
  readonly kind: 'open' | 'halfOpen';
  readonly untilMs: number;
  /** The pause for a failure, which doubles if the probe fails. */
  readonly pauseMs: number;
  /** Whether the remote side asked for the pause. */
  readonly isLimited: boolean;
  /** Whether it was opened by `trip()`, and no call was made since. */
  readonly wasTripped: boolean;
}

/** The result of a call counts only in the state in which the call began. */
export type CircuitState = { readonly kind: 'closed'; readonly window: RollingWindow } | Interrupted;

export type CallResult = 'success' | 'failure' | 'neither';

/** Milliseconds after which a caller that was denied during a probe may retry. */
export const PROBE_MS = 1_000;

/** Stops the calls to a failing service or store, and probes it with one call after each pause. */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #onChange: ((state: BreakerState) => void) | undefined;
  protected state: CircuitState;
  #published: BreakerState = 'closed';

  /** `onChange` is called with each new state, also when a pause ends without a call. */
  constructor(settings: BreakerSettings, onChange?: (state: BreakerState) => void) {
    this.#settings = settings;
    this.#onChange = onChange;
    this.state = this.#closed();
  }

  get isLimited(): boolean {
    return this.state.kind !== 'closed' && this.state.isLimited;
  }

  /** Returns the milliseconds until a call may be made; 0 or less if one may be made now. */
  pauseLeftMs(): number {
    if (this.state.kind === 'closed') return 0;
    return this.state.kind === 'halfOpen' ? PROBE_MS : this.state.untilMs - performance.now();
  }

  /** Begins a call; {@link pauseLeftMs} must be 0 or less. Returns the state to pass to {@link record}. */
  begin(): CircuitState {
    if (this.state.kind === 'open') this.#enter({ ...this.state, kind: 'halfOpen', wasTripped: false });
    return this.state;
  }

  /**
   * `mayOpen`: whether the failures are sufficient evidence to open. `silentMs`: time since the last success,
   * if an outage opens it however many calls succeeded before.
   */
  record(
    began: CircuitState,
    result: CallResult,
    nowMs = performance.now(),
    mayOpen = true,
    silentMs = 0,
  ): void {
    if (this.state !== began) return;
    const { windowMs, minimumCalls, failureRatio, pauseMs, maxPauseMs } = this.#settings;
    if (began.kind === 'closed') {
      if (result === 'neither' && silentMs === 0) return;
      if (result !== 'neither') began.window.count(result === 'success', nowMs);
      if (result === 'success' || !mayOpen) return;
      const { calls, failed } = began.window.totals(nowMs);
      const isTooOften = calls >= minimumCalls && failed / calls >= failureRatio;
      // So many successes would usually have come meanwhile: a shorter pause may be chance.
      const missing = ((calls - failed) * silentMs) / windowMs;
      const isOutage = silentMs >= windowMs / SLICES && Math.min(failed, missing) >= minimumCalls;
      if (isTooOften || isOutage) this.#open(nowMs, pauseMs);
    } else if (result === 'success') this.#enter(this.#closed());
    else if (result === 'failure') this.#open(nowMs, Math.min(began.pauseMs * 2, maxPauseMs));
    else this.#enter({ ...began, kind: 'open', untilMs: nowMs });
  }

  /**
   * Opens the circuit for a time that the answer to a call has asked for. If the probe after it fails, the
   * first pause for failures follows.
   */
  pause(began: CircuitState, forMs: number, nowMs: number): void {
    if (this.state === began)
      this.#open(nowMs, forMs, { pauseMs: this.#settings.pauseMs / 2, isLimited: true });
  }

  trip(): void {
    const { pauseMs } = this.#settings;
    if (this.state.kind === 'closed') this.#open(performance.now(), pauseMs, { wasTripped: true });
  }

  undoTrip(): void {
    if (this.state.kind !== 'closed' && this.state.wasTripped) this.#enter(this.#closed());
  }

  #open(nowMs: number, forMs: number, how: Partial<Interrupted> = {}): void {
    const untilMs = nowMs + forMs;
    this.#enter({ kind: 'open', untilMs, pauseMs: forMs, isLimited: false, wasTripped: false, ...how });
  }

  #enter(state: CircuitState): void {
    this.state = state;
    if (!this.#onChange) return;
    const leftMs = this.pauseLeftMs();
    this.#publish(state.kind === 'open' && leftMs <= 0 ? 'halfOpen' : state.kind);
    if (this.#published === 'open')
      setTimeout(() => this.state === state && this.#publish('halfOpen'), leftMs).unref();
  }

  #publish(state: BreakerState): void {
    if (state === this.#published) return;
    this.#published = state;
    this.#onChange?.(state);
  }

  #closed(): CircuitState {
    return { kind: 'closed', window: new RollingWindow(this.#settings.windowMs) };
  }
}

interface Slice {
  readonly startedAtMs: number;
  succeeded: number;
  failed: number;
}

/** Number of slices of the window. The oldest slice is removed as a whole. */
const SLICES = 10;

export class RollingWindow {
  readonly #sliceMs: number;
  #slices: Slice[] = [];

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
  }

  count(succeeded: boolean, nowMs: number): void {
    let slice = this.#slices.at(-1);
    if (!slice || nowMs - slice.startedAtMs >= this.#sliceMs) {
      slice = { startedAtMs: nowMs, succeeded: 0, failed: 0 };
      this.#slices = [...this.#slices.slice(1 - SLICES), slice];
    }
    if (succeeded) slice.succeeded += 1;
    else slice.failed += 1;
  }

  totals(nowMs: number): { readonly calls: number; readonly failed: number } {
    let [calls, failed] = [0, 0];
    for (const slice of this.#slices) {
      if (nowMs - slice.startedAtMs >= this.#sliceMs * SLICES) continue;
      calls += slice.succeeded + slice.failed;
      failed += slice.failed;
    }
    return { calls, failed };
  }
}

/** Different callers whose calls must fail before a breaker opens, or `minimumCalls` if that is less. */
const FAILING_CALLERS = 5;
/** Callers that are kept. More than one attacker has: the failures of an evicted caller would count again. */
const MAX_CALLERS = 256;
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
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly failures: number;
}

/**
 * Stops the calls of a lane while the service fails, or limits their rate. It opens only for the failures of
 * several callers, of which each counts up to a limit, even after the breaker has closed again: one account
 * whose calls always fail, in however many sessions, cannot open it. Nor can it keep the breaker open: a
 * caller that failed may not probe in the first second after the pause. When no call of anyone has succeeded
 * for a tenth of the window, nor for as long as `minimumCalls` successes usually take, such failures open it
 * however many calls succeeded before.
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
  #succeededAtMs = -Infinity;
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

  denial(caller: CallerKey): Unavailable | undefined {
    if (this.state.kind === 'closed') return undefined;
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
    if (result === 'success') this.#succeededAtMs = nowMs;
    if (result !== 'failure') this.record(began, result, nowMs);
    // Without a breaker, also a failure of the probe ends the pause of a 429.
    else if (!this.#countsFailures) this.record(began, 'success', nowMs);
    else {
      const counts = this.#addFailure(caller, nowMs) || this.state.kind !== 'closed';
      const mayOpen = this.#failing.size >= this.#minCallers;
      // Few of the failures of one caller count, but all of its successes do.
      this.record(began, counts ? result : 'neither', nowMs, mayOpen, nowMs - this.#succeededAtMs);
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
 * Returns what a call shows about the service. Other statuses than 408 and 5xx, and a malformed 200, concern
 * this request alone. A full queue, an open breaker, a failing `apiKey` function and a shutdown are local.
 */
function callResultOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
