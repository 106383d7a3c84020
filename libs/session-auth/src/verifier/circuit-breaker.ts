import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/verdict.js';
import { RollingWindow } from './rolling-window.js';

/** When the circuit opens, and for how long. */
export interface BreakerSettings {
  /** Milliseconds of the past that are looked at. */
  readonly windowMs: number;
  /** Calls within it before anything is concluded. */
  readonly minimumCalls: number;
  /** Part of them that failed, above 0 and up to 1, at which the circuit opens. */
  readonly failureRatio: number;
  /** Milliseconds of the first pause; it doubles while probes fail. */
  readonly pauseMs: number;
  /** Milliseconds of the longest pause. */
  readonly maxPauseMs: number;
}

/** What the breaker does: lets all pass, none, or a single probe. */
type State =
  | { readonly kind: 'closed'; readonly window: RollingWindow }
  | { readonly kind: 'open'; readonly untilMs: number; readonly pauseMs: number }
  | { readonly kind: 'halfOpen'; readonly pauseMs: number };

/** `closed`: every call passes. `open`: none. `halfOpen`: a single probe. */
export type BreakerState = State['kind'];

/** Failures of this side, or of nobody, say nothing about the service; a refusal is a good answer. */
const NOT_THE_SERVICE: ReadonlySet<UnavailableReason> = new Set(['busy', 'api_key', 'shutting_down', 'circuit_open']);

/** Leaves a service alone that does not answer, and asks it again with one probe after a pause that grows. */
export class CircuitBreaker {
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

  /** What a caller gets who would be refused now; `undefined` when a call may be made. */
  refusal(): Unavailable | undefined {
    if (this.#state.kind === 'closed') return undefined;
    if (this.#state.kind === 'halfOpen') return unavailable('circuit_open', 1);
    const remainingMs = this.#state.untilMs - this.#now();
    return remainingMs > 0 ? unavailable('circuit_open', remainingMs / 1_000) : undefined;
  }

  /** Makes a call, unless the circuit is open, and learns from it. */
  async protect<User>(call: () => Promise<Verdict<User>>): Promise<Verdict<User>> {
    const refusal = this.refusal();
    if (refusal) return refusal;
    if (this.#state.kind === 'open') this.#become({ kind: 'halfOpen', pauseMs: this.#state.pauseMs });
    const before = this.#state;
    const verdict = await call();
    if (this.#state === before) this.#learn(before, verdict);
    return verdict;
  }

  #learn(state: State, verdict: Verdict<unknown>): void {
    const succeeded = verdict.kind !== 'unavailable';
    const counts = succeeded || !(NOT_THE_SERVICE.has(verdict.reason) || verdict.staleConnection);
    if (state.kind === 'closed' && counts) this.#count(state.window, succeeded);
    if (state.kind !== 'halfOpen') return;
    if (succeeded) this.#become(this.#closed());
    else if (counts) this.#open(Math.min(state.pauseMs * 2, this.#settings.maxPauseMs));
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
