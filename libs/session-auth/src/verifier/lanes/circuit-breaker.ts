import { unavailable, type Unavailable } from '../../contract/verdict.js';
import { Circuit, PROBE_MS, type BreakerSettings, type BreakerState, type CallResult, type CircuitState } from '../circuit.js';
import { FailingTokens } from './failing-tokens.js';

/** Different tokens that must fail before a breaker opens, or `minimumCalls` if that is less. */
const FAILING_TOKENS = 5;

/**
 * Stops the calls of a lane while the service fails. It opens when, within `windowMs`, at least `minimumCalls` calls were made, the part
 * `failureRatio` of them failed, and failures of five different tokens are among them (`minimumCalls` if that is less). So one account,
 * or one caller, whose calls always fail opens it for nobody else, and does not keep it open: for a second, a token that failed leaves the probe to others.
 */
export class CircuitBreaker {
  readonly #circuit: Circuit;
  readonly #failing: FailingTokens;

  /** `changed` is called with each new state. */
  constructor(settings: BreakerSettings, now?: () => number, changed?: (state: BreakerState) => void) {
    const { windowMs, minimumCalls } = settings;
    const tokens = Math.min(FAILING_TOKENS, minimumCalls);
    this.#failing = new FailingTokens({ tokens, failuresEach: Math.ceil(minimumCalls / tokens), windowMs });
    this.#circuit = new Circuit(settings, now, changed);
  }

  /** The answer to a caller that may not make a call now; `undefined` when it may. */
  denial(token: string): Unavailable | undefined {
    if (this.#circuit.isClosed) return undefined;
    const pauseLeftMs = this.#circuit.pauseLeftMs() + (this.#failing.has(token) ? PROBE_MS : 0);
    return pauseLeftMs > 0 ? unavailable('circuit_open', pauseLeftMs / 1_000) : undefined;
  }

  /** Lets a call begin, for which there must be no {@link denial}, and returns the state for {@link record}. */
  begin(): CircuitState {
    return this.#circuit.begin();
  }

  /** Takes in what a call with this token showed. */
  record(began: CircuitState, result: CallResult, token: string, nowMs: number): void {
    if (result !== 'failure') this.#circuit.record(began, result, nowMs);
    else {
      const counts = this.#failing.add(token, nowMs) || !this.#circuit.isClosed;
      this.#circuit.record(began, counts ? result : 'neither', nowMs, this.#failing.areEnough);
    }
  }

  /** Opens, if it is closed: the other lane has shown that the service fails. */
  trip(): void {
    this.#circuit.trip();
  }

  /** Closes, if {@link trip} opened it and no call was made since: the other lane has shown that the service works again. */
  undoTrip(): void {
    this.#circuit.undoTrip();
  }
}
