import { REJECTED, unavailable } from '../../contract/verdict.js';
import { CircuitBreaker } from '../circuit-breaker.js';

/** Calls to a store at once. The next finds nothing there, and the service decides. */
const MAX_CALLS = 1_024;
/** A store that fails is left alone for longer and longer, so that requests wait for it no more. */
const BREAKER = { windowMs: 5_000, minimumCalls: 3, failureRatio: 0.5, pauseMs: 500, maxPauseMs: 5_000 };

/** Calls a store in such a way that it can do no harm: each call is bounded in time, all are in number, and an ill store is left alone. */
export class StoreAccess {
  readonly #timeoutMs: number;
  readonly #failed: () => void;
  readonly #breaker = new CircuitBreaker(BREAKER);
  #calls = 0;

  /** `failed` hears of every call that brought nothing. */
  constructor(timeoutMs: number, failed: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#failed = failed;
  }

  /** What a call gives; `undefined` when it fails, takes too long, or is not made. Never rejects. */
  async try<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    if (this.#calls >= MAX_CALLS) return undefined;
    let given: Value | undefined;
    const verdict = await this.#breaker.protect(async () => {
      this.#calls += 1;
      try {
        given = await this.#inTime(call);
        return REJECTED;
      } catch {
        this.#failed();
        return unavailable('unreachable');
      } finally {
        this.#calls -= 1;
      }
    });
    return verdict.kind === 'unavailable' ? undefined : given;
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
