import { Circuit } from '../circuit.js';

/** Calls to a store at once. The next finds nothing there, and the service decides. */
const MAX_CALLS = 1_024;
/** A store that fails is left alone for longer and longer, so that requests wait for it no more. */
const BREAKER = { windowMs: 5_000, minimumCalls: 3, failureRatio: 0.5, pauseMs: 500, maxPauseMs: 5_000 };

/** Calls a store in such a way that it can do no harm: each call is bounded in time, all are in number, and an ill store is left alone. */
export class StoreAccess {
  readonly #timeoutMs: number;
  readonly #failed: () => void;
  readonly #circuit = new Circuit(BREAKER);
  #calls = 0;

  /** `failed` hears of every call that brought nothing. */
  constructor(timeoutMs: number, failed: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#failed = failed;
  }

  /** What a call gives; `undefined` when it fails, takes too long, or is not made. Never rejects. */
  async try<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    if (this.#calls >= MAX_CALLS || this.#circuit.pauseLeftMs() > 0) return undefined;
    this.#calls += 1;
    const began = this.#circuit.begin();
    const answer = await this.#answerTo(call);
    this.#circuit.learn(began, answer ? 'success' : 'failure');
    this.#calls -= 1;
    return answer?.value;
  }

  async #answerTo<Value>(call: () => Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    try {
      return { value: await this.#inTime(call) };
    } catch {
      this.#failed();
      return undefined;
    }
  }

  async #inTime<Value>(call: () => Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('The session store did not answer in time')), this.#timeoutMs).unref();
    });
    try {
      return await Promise.race([call(), overdue]);
    } finally {
      clearTimeout(timer);
    }
  }
}
