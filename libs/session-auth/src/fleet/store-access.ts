import type { SessionStore } from '../contract/session-store.js';
import { type CallResult, CircuitBreaker } from '../verifier/circuit-breaker.js';
import type { SharedTierSettings } from '../verifier/shared-tier.js';
import { SessionSeal } from './session-seal.js';

interface Answer<Value> {
  /** `neither`: this process was busy, so that nothing is known of the store. */
  readonly result: CallResult;
  readonly value?: Value;
}

/**
 * Maximum number of calls to a store in flight, and, during a pause, without an answer: the client of a store
 * that hangs may queue them. Further calls fail immediately.
 */
const MAX_CALLS = 8_192;
/**
 * A failing store is not called during growing pauses, so that requests do not wait for it. It fails if a
 * tenth of the calls do: of a Cluster of three, one node may be dead, and a check that finds its node makes
 * more calls than one that does not.
 */
const BREAKER = { windowMs: 5_000, minimumCalls: 3, failureRatio: 0.1, pauseMs: 500, maxPauseMs: 5_000 };
/**
 * Part of `timeoutMs` by which a timer must be late for the delay to be of this process, which was busy, and
 * not of the store.
 */
const STALL = 0.25;

/**
 * Returns a store whose methods reject where those of the application throw. Of calls that are made together, one
 * that throws would leave the others without a handler of their rejections.
 */
function rejecting(store: SessionStore): SessionStore {
  const get = (_target: object, name: string): unknown => {
    const method = Reflect.get(store, name) as (...parameters: unknown[]) => unknown;
    if (name === 'subscribe') return method.bind(store);
    return (...parameters: unknown[]) => new Promise((resolve) => resolve(method.apply(store, parameters)));
  };
  return new Proxy(store, { get: get as never });
}

/**
 * Calls a store: bounds the duration and the number of calls, and pauses calls to a failing store. A call is
 * all that a check needs of the store, of one or more commands: it has one time limit, and one result.
 */
export class StoreAccess {
  readonly store: SessionStore;
  /** The first seals new values; all of them open values. */
  readonly seals: readonly [SessionSeal, ...SessionSeal[]];
  readonly #timeoutMs: number;
  readonly #onResult: (isFailed: boolean) => void;
  readonly #breaker = new CircuitBreaker(BREAKER);
  #calls = 0;
  #unanswered = 0;

  /** `onResult` is called for each call that fails or succeeds. */
  constructor(
    {
      store,
      secrets: [first, ...others],
      scope,
      timeoutMs,
    }: Pick<SharedTierSettings, 'store' | 'secrets' | 'scope' | 'timeoutMs'>,
    onResult: (isFailed: boolean) => void,
  ) {
    this.store = rejecting(store);
    this.seals = [new SessionSeal(first, scope), ...others.map((secret) => new SessionSeal(secret, scope))];
    this.#timeoutMs = timeoutMs;
    this.#onResult = onResult;
  }

  /** Returns the result of a call, or `undefined` if it fails, times out, or is not made. Never rejects. */
  async try<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    return this.#breaker.pauseLeftMs() > 0 ? undefined : this.insist(call);
  }

  /** Makes a call as {@link try} does, but also during a pause. For revocations. */
  async insist<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    const isPaused = this.#breaker.pauseLeftMs() > 0;
    if ((isPaused ? this.#unanswered : this.#calls) >= MAX_CALLS) return undefined;
    this.#calls += 1;
    const began = isPaused ? undefined : this.#breaker.begin();
    const { result, value } = await this.#answerTo(call);
    if (began) this.#breaker.record(began, result);
    this.#calls -= 1;
    if (result !== 'neither') this.#onResult(result === 'failure');
    return value;
  }

  /** Never rejects. */
  #answerTo<Value>(call: () => Promise<Value>): Promise<Answer<Value>> {
    return new Promise((resolve) => {
      const dueMs = performance.now() + this.#timeoutMs;
      const end = (answer: Answer<Value>): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const timer = setTimeout(() => {
        const isStall = performance.now() - dueMs > STALL * this.#timeoutMs;
        // An answer that arrived while this process was busy is read before the next turn.
        setImmediate(() => end({ result: isStall ? 'neither' : 'failure' }));
      }, this.#timeoutMs).unref();
      // A call that throws rejects.
      const work = async (): Promise<Value> => call();
      this.#unanswered += 1;
      void work()
        .then(
          (value) => end({ result: 'success', value }),
          () => end({ result: 'failure' }),
        )
        .finally(() => (this.#unanswered -= 1));
    });
  }
}
