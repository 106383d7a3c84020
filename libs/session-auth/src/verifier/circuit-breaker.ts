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

/** The evidence of a call about the remote side: it works, it fails, or neither. */
export type CallResult = 'success' | 'failure' | 'neither';

/** Milliseconds after which a caller that was denied during a probe may retry. */
export const PROBE_MS = 1_000;

/** Stops the calls to a failing service or store, and probes it with one call after each pause. */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #onChange: ((state: BreakerState) => void) | undefined;
  #state: CircuitState;
  #published: BreakerState = 'closed';

  /** `onChange` is called with each new state, also when a pause ends without a call. */
  constructor(settings: BreakerSettings, onChange?: (state: BreakerState) => void) {
    this.#settings = settings;
    this.#onChange = onChange;
    this.#state = this.#closed();
  }

  get isClosed(): boolean {
    return this.#state.kind === 'closed';
  }

  /** Whether the circuit is not closed because of {@link pause}. */
  get isLimited(): boolean {
    return this.#state.kind !== 'closed' && this.#state.isLimited;
  }

  /** Returns the milliseconds until a call may be made; 0 or less if one may be made now. */
  pauseLeftMs(): number {
    if (this.#state.kind === 'closed') return 0;
    return this.#state.kind === 'halfOpen' ? PROBE_MS : this.#state.untilMs - performance.now();
  }

  /** Begins a call; {@link pauseLeftMs} must be 0 or less. Returns the state to pass to {@link record}. */
  begin(): CircuitState {
    if (this.#state.kind === 'open') this.#enter({ ...this.#state, kind: 'halfOpen', wasTripped: false });
    return this.#state;
  }

  /** Records the result of a call. `mayOpen`: whether the failures are sufficient evidence to open. */
  record(began: CircuitState, result: CallResult, nowMs = performance.now(), mayOpen = true): void {
    if (this.#state !== began) return;
    const { minimumCalls, failureRatio, pauseMs, maxPauseMs } = this.#settings;
    if (began.kind === 'closed') {
      if (result === 'neither') return;
      began.window.count(result === 'success', nowMs);
      if (result === 'success' || !mayOpen) return;
      const { calls, failed } = began.window.totals(nowMs);
      if (calls >= minimumCalls && failed / calls >= failureRatio) this.#open(nowMs, pauseMs);
    } else if (result === 'success') this.#enter(this.#closed());
    else if (result === 'failure') this.#open(nowMs, Math.min(began.pauseMs * 2, maxPauseMs));
    else this.#enter({ ...began, kind: 'open', untilMs: nowMs });
  }

  /**
   * Opens the circuit for a time that the answer to a call has asked for. If the probe after it fails, the
   * first pause for failures follows.
   */
  pause(began: CircuitState, forMs: number, nowMs: number): void {
    if (this.#state === began)
      this.#open(nowMs, forMs, { pauseMs: this.#settings.pauseMs / 2, isLimited: true });
  }

  trip(): void {
    const { pauseMs } = this.#settings;
    if (this.isClosed) this.#open(performance.now(), pauseMs, { wasTripped: true });
  }

  /** Closes the circuit if {@link trip} opened it and no call was made since. */
  undoTrip(): void {
    if (this.#state.kind !== 'closed' && this.#state.wasTripped) this.#enter(this.#closed());
  }

  #open(nowMs: number, forMs: number, how: Partial<Interrupted> = {}): void {
    const untilMs = nowMs + forMs;
    this.#enter({ kind: 'open', untilMs, pauseMs: forMs, isLimited: false, wasTripped: false, ...how });
  }

  #enter(state: CircuitState): void {
    this.#state = state;
    if (!this.#onChange) return;
    const leftMs = this.pauseLeftMs();
    this.#publish(state.kind === 'open' && leftMs <= 0 ? 'halfOpen' : state.kind);
    if (this.#published === 'open')
      setTimeout(() => this.#state === state && this.#publish('halfOpen'), leftMs).unref();
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

  /** Returns the sums of the slices that are still in the window. */
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
