import { Circuit } from '../lanes/circuit.js';

/** Calls to a store in flight at most. A call beyond them counts as failed. */
const MAX_CALLS = 1_024;
/** A store that fails is left alone for growing pauses, so that requests do not wait for it. */
const BREAKER = { windowMs: 5_000, minimumCalls: 3, failureRatio: 0.5, pauseMs: 500, maxPauseMs: 5_000 };

/** Calls a store safely: bounds the time and the number of calls, and leaves a failing store alone for a while. */
export class StoreAccess {
  readonly #timeoutMs: number;
  readonly #failed: () => void;
  readonly #circuit = new Circuit(BREAKER);
  #calls = 0;

  /** `failed` is called for each call that fails. */
  constructor(timeoutMs: number, failed: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#failed = failed;
  }

  /**
   * Returns the result of a call, or `undefined` if it fails, takes too long, or is not made. Never rejects. `late` receives the result of a
   * call that took too long.
   */
  async try<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<Value | undefined> {
    return this.#circuit.pauseLeftMs() > 0 ? undefined : this.insist(call, late);
  }

  /** The same, but makes the call also while the store is left alone. For revocations, and leases to give back. */
  async insist<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<Value | undefined> {
    if (this.#calls >= MAX_CALLS) return undefined;
    this.#calls += 1;
    const began = this.#circuit.pauseLeftMs() > 0 ? undefined : this.#circuit.begin();
    const answer = await this.#answerTo(call, late);
    if (began) this.#circuit.record(began, answer ? 'success' : 'failure');
    this.#calls -= 1;
    return answer?.value;
  }

  async #answerTo<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<{ readonly value: Value } | undefined> {
    try {
      return { value: await this.#inTime(call, late) };
    } catch {
      this.#failed();
      return undefined;
    }
  }

  async #inTime<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<Value> {
    const answer = call();
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error('The session store did not answer in time'));
        if (late) answer.then(late, () => undefined);
      }, this.#timeoutMs).unref();
    });
    try {
      return await Promise.race([answer, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }
}
