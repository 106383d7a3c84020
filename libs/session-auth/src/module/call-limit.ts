import { SessionServiceUnavailableError } from '../contract/errors.js';
import { unavailable } from '../contract/verdict.js';

/** Seconds after which a caller that found no place may come again. */
const RETRY_AFTER_SECONDS = 1;

/** Bounds the calls of one kind in flight. None waits. */
export class CallLimit {
  readonly #maxInFlight: number;
  #inFlight = 0;

  constructor(maxInFlight: number) {
    this.#maxInFlight = maxInFlight;
  }

  /** Makes a call, which has a place until it settles. @throws SessionServiceUnavailableError (`busy`) at once when there is none */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#inFlight >= this.#maxInFlight) throw new SessionServiceUnavailableError(unavailable('busy', RETRY_AFTER_SECONDS));
    this.#inFlight += 1;
    try {
      return await call();
    } finally {
      this.#inFlight -= 1;
    }
  }
}
