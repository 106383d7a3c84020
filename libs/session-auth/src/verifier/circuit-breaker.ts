import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/verdict.js';
import { Circuit, type BreakerSettings, type BreakerState, type CallResult } from './circuit.js';

/** Failures of this side, or of nobody, say nothing about the service; a refusal is a good answer. */
const NOT_THE_SERVICE: ReadonlySet<UnavailableReason> = new Set(['busy', 'api_key', 'shutting_down', 'circuit_open']);

/** The circuit to the session service: who may not ask gets a verdict. */
export class CircuitBreaker {
  readonly #circuit: Circuit;

  /** `changed` hears of each new state. */
  constructor(settings: BreakerSettings, now?: () => number, changed?: (state: BreakerState) => void) {
    this.#circuit = new Circuit(settings, now, changed);
  }

  /** What a caller gets who would be refused now; `undefined` when a call may be made. */
  refusal(): Unavailable | undefined {
    const pauseLeftMs = this.#circuit.pauseLeftMs();
    return pauseLeftMs > 0 ? unavailable('circuit_open', pauseLeftMs / 1_000) : undefined;
  }

  /** Makes a call, unless the circuit is open, and learns from it. */
  protect<User>(call: () => Promise<Verdict<User>>): Promise<Verdict<User>> {
    const refusal = this.refusal();
    return refusal ? Promise.resolve(refusal) : this.#circuit.pass(call, resultOf);
  }
}

function resultOf(verdict: Verdict<unknown>): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  return NOT_THE_SERVICE.has(verdict.reason) || verdict.staleConnection ? 'neither' : 'failure';
}
