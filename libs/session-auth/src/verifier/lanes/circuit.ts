import { RollingWindow } from './rolling-window.js';

/** When a circuit breaker opens, and for how long. */
export interface BreakerSettings {
  /** Milliseconds of the past that are looked at. 10 to 300 000. @default 10000 */
  readonly windowMs: number;
  /** Calls within it before anything is concluded. 1 to 1 000 000. @default 20 */
  readonly minimumCalls: number;
  /** Part of them that failed, above 0 and up to 1, at which the breaker opens. @default 0.5 */
  readonly failureRatio: number;
  /** Milliseconds of the first pause; it doubles while probes fail. 1 to 120 000. @default 1000 */
  readonly pauseMs: number;
  /** Milliseconds of the longest pause: `pauseMs` to 120 000. @default 30000 */
  readonly maxPauseMs: number;
}

/** `closed`: every call passes. `open`: none. `halfOpen`: the pause is over, and a single probe passes. */
export type BreakerState = 'closed' | 'open' | 'halfOpen';

/** The state of a circuit, and what it has to keep. A call is judged by the state that it began in. */
export type CircuitState =
  | { readonly kind: 'closed'; readonly window: RollingWindow }
  | { readonly kind: 'open'; readonly untilMs: number; readonly pauseMs: number; readonly wasTripped?: true }
  | { readonly kind: 'halfOpen'; readonly pauseMs: number };

/** What a call shows about the other side: that it works, that it fails, or nothing. */
export type CallResult = 'success' | 'failure' | 'neither';

/** Milliseconds after which a caller may come again that a probe under way kept out. */
export const PROBE_MS = 1_000;

/** Stops the calls to what fails, and tries it again with one probe after a pause that grows. */
export class Circuit {
  readonly #settings: BreakerSettings;
  readonly #now: () => number;
  readonly #onChange: ((state: BreakerState) => void) | undefined;
  #state: CircuitState;
  #published: BreakerState = 'closed';

  /** `changed` is called with each new state. The end of a pause is one: where no call comes, nothing would tell it. */
  constructor(settings: BreakerSettings, now: () => number = () => performance.now(), changed?: (state: BreakerState) => void) {
    this.#settings = settings;
    this.#now = now;
    this.#onChange = changed;
    this.#state = this.#closed();
  }

  get isClosed(): boolean {
    return this.#state.kind === 'closed';
  }

  /** Milliseconds until a call may be made again; not above 0 when one may be made now. */
  pauseLeftMs(): number {
    if (this.#state.kind === 'closed') return 0;
    return this.#state.kind === 'halfOpen' ? PROBE_MS : this.#state.untilMs - this.#now();
  }

  /** Lets a call begin, for which there must be no pause left, and returns the state for {@link record}. */
  begin(): CircuitState {
    if (this.#state.kind === 'open') this.#enter({ kind: 'halfOpen', pauseMs: this.#state.pauseMs });
    return this.#state;
  }

  /** Takes in what a call showed. A call that began in a former state counts for nothing. `mayOpen`: the failures are evidence enough. */
  record(began: CircuitState, result: CallResult, nowMs = this.#now(), mayOpen = true): void {
    if (this.#state !== began) return;
    if (began.kind === 'closed') this.#count(began.window, result, nowMs, mayOpen);
    else if (result === 'success') this.#enter(this.#closed());
    else if (result === 'failure') this.#open(Math.min(began.pauseMs * 2, this.#settings.maxPauseMs), nowMs);
    else this.#enter({ kind: 'open', untilMs: nowMs, pauseMs: began.pauseMs });
  }

  /** Opens, if it is closed. */
  trip(): void {
    const { pauseMs } = this.#settings;
    if (this.#state.kind === 'closed') this.#enter({ kind: 'open', untilMs: this.#now() + pauseMs, pauseMs, wasTripped: true });
  }

  /** Closes, if it was tripped and has seen no call since. */
  undoTrip(): void {
    if (this.#state.kind === 'open' && this.#state.wasTripped) this.#enter(this.#closed());
  }

  #count(window: RollingWindow, result: CallResult, nowMs: number, mayOpen: boolean): void {
    if (result === 'neither') return;
    const { minimumCalls, failureRatio, pauseMs } = this.#settings;
    window.count(result === 'success', nowMs);
    if (result === 'success' || !mayOpen) return;
    const { calls, failed } = window.totals(nowMs);
    if (calls >= minimumCalls && failed / calls >= failureRatio) this.#open(pauseMs, nowMs);
  }

  #open(pauseMs: number, nowMs: number): void {
    this.#enter({ kind: 'open', untilMs: nowMs + pauseMs, pauseMs });
  }

  #enter(state: CircuitState): void {
    this.#state = state;
    if (!this.#onChange) return;
    const leftMs = this.pauseLeftMs();
    this.#publish(state.kind === 'open' && leftMs <= 0 ? 'halfOpen' : state.kind);
    if (this.#published === 'open') setTimeout(() => this.#state === state && this.#publish('halfOpen'), leftMs).unref();
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
