import { RollingWindow } from './rolling-window.js';

/** When a circuit opens, and for how long. */
export interface BreakerSettings {
  /** Milliseconds of the past that are looked at. 10 to 300 000. @default 10000 */
  readonly windowMs: number;
  /** Calls within it before anything is concluded. 1 to 1 000 000. @default 20 */
  readonly minimumCalls: number;
  /** Part of them that failed, above 0 and up to 1, at which the circuit opens. @default 0.5 */
  readonly failureRatio: number;
  /** Milliseconds of the first pause; it doubles while probes fail. 1 to 120 000. @default 1000 */
  readonly pauseMs: number;
  /** Milliseconds of the longest pause: `pauseMs` to 120 000. @default 30000 */
  readonly maxPauseMs: number;
}

/** `closed`: every call passes. `open`: none. `halfOpen`: a single probe. */
export type BreakerState = 'closed' | 'open' | 'halfOpen';

/** What the circuit does, and what it has to remember for it. */
type State =
  | { readonly kind: 'closed'; readonly window: RollingWindow }
  | { readonly kind: 'open'; readonly untilMs: number; readonly pauseMs: number }
  | { readonly kind: 'halfOpen'; readonly pauseMs: number };

/** What a call says of the other side: it is well, it is not, or nothing. */
export type CallResult = 'success' | 'failure' | 'neither';

/** Milliseconds after which somebody may come again whom a probe under way kept out. */
const PROBE_MS = 1_000;

/** Leaves alone what does not answer, and tries it again with one probe after a pause that grows. */
export class Circuit {
  readonly #settings: BreakerSettings;
  readonly #now: () => number;
  readonly #changed: ((state: BreakerState) => void) | undefined;
  #state: State;

  /** `changed` hears of each new state. */
  constructor(settings: BreakerSettings, now: () => number = () => performance.now(), changed?: (state: BreakerState) => void) {
    this.#settings = settings;
    this.#now = now;
    this.#changed = changed;
    this.#state = this.#closed();
  }

  /** Milliseconds until a call may be made again; 0 when one may be made now. */
  pauseLeftMs(): number {
    if (this.#state.kind === 'closed') return 0;
    return this.#state.kind === 'halfOpen' ? PROBE_MS : Math.max(0, this.#state.untilMs - this.#now());
  }

  /** Makes a call, which must not reject and which there has to be no pause for, and learns from it. */
  async pass<Value>(call: () => Promise<Value>, resultOf: (value: Value) => CallResult): Promise<Value> {
    if (this.#state.kind === 'open') this.#become({ kind: 'halfOpen', pauseMs: this.#state.pauseMs });
    const before = this.#state;
    const value = await call();
    if (this.#state === before) this.#learn(before, resultOf(value));
    return value;
  }

  #learn(state: State, result: CallResult): void {
    if (state.kind === 'closed' && result !== 'neither') this.#count(state.window, result === 'success');
    if (state.kind !== 'halfOpen') return;
    if (result === 'success') this.#become(this.#closed());
    else if (result === 'failure') this.#open(Math.min(state.pauseMs * 2, this.#settings.maxPauseMs));
    else this.#become({ kind: 'open', untilMs: this.#now(), pauseMs: state.pauseMs });
  }

  #count(window: RollingWindow, succeeded: boolean): void {
    const { minimumCalls, failureRatio, pauseMs } = this.#settings;
    window.count(succeeded, this.#now());
    const { calls, failed } = window.totals(this.#now());
    if (!succeeded && calls >= minimumCalls && failed / calls >= failureRatio) this.#open(pauseMs);
  }

  #open(pauseMs: number): void {
    this.#become({ kind: 'open', untilMs: this.#now() + pauseMs, pauseMs });
  }

  #become(state: State): void {
    this.#state = state;
    this.#changed?.(state.kind);
  }

  #closed(): State {
    return { kind: 'closed', window: new RollingWindow(this.#settings.windowMs) };
  }
}
