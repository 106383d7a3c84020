import { CircuitBreaker } from '../lanes/circuit-breaker.js';

/** Maximum number of calls to a store in flight. Further calls fail immediately. */
const MAX_CALLS = 1_024;
/** A failing store is not called during growing pauses, so that requests do not wait for it. */
const BREAKER = { windowMs: 5_000, minimumCalls: 3, failureRatio: 0.5, pauseMs: 500, maxPauseMs: 5_000 };

/** Calls a store: bounds the duration and the number of calls, and pauses calls to a failing store. */
export class StoreAccess {
  readonly #timeoutMs: number;
  readonly #onFailure: () => void;
  readonly #breaker = new CircuitBreaker(BREAKER);
  #calls = 0;

  /** `onFailure` is called for each call that fails. */
  constructor(timeoutMs: number, onFailure: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onFailure = onFailure;
  }

  /**
   * Returns the result of a call, or `undefined` if it fails, times out, or is not made. Never rejects. `late` is called with the result of a
   * call that timed out.
   */
  async try<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<Value | undefined> {
    return this.#breaker.pauseLeftMs() > 0 ? undefined : this.insist(call, late);
  }

  /** Makes a call as {@link try} does, but also during a pause. For revocations, and for releasing leases. */
  async insist<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<Value | undefined> {
    if (this.#calls >= MAX_CALLS) return undefined;
    this.#calls += 1;
    const began = this.#breaker.pauseLeftMs() > 0 ? undefined : this.#breaker.begin();
    const answer = await this.#answerTo(call, late);
    if (began) this.#breaker.record(began, answer ? 'success' : 'failure');
    this.#calls -= 1;
    return answer?.value;
  }

  async #answerTo<Value>(call: () => Promise<Value>, late?: (value: Value) => void): Promise<{ readonly value: Value } | undefined> {
    try {
      return { value: await this.#inTime(call, late) };
    } catch {
      this.#onFailure();
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
