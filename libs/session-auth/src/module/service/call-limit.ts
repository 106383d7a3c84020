import type { Deadline } from '../../client/deadline.js';
import type { Deadlines } from '../../client/deadline.js';
import { abortable } from '../../client/deadline.js';
import { SessionServiceUnavailableError } from '../../contract/errors.js';
import { unavailable } from '../../contract/outcome.js';

/** Bounds of the calls of one kind. */
export interface CallLimits {
  readonly maxInFlight: number;
  /** Milliseconds for each call. */
  readonly timeoutMs: number;
}

/** Seconds after which a caller that found no place may come again. */
const RETRY_AFTER_SECONDS = 1;

/** Bounds the calls of one kind: how many are in flight, and how long each takes. None waits for its turn. */
export class CallLimit {
  readonly #deadlines: Deadlines;
  readonly #limits: CallLimits;
  #inFlight = 0;

  constructor(deadlines: Deadlines, limits: CallLimits) {
    this.#deadlines = deadlines;
    this.#limits = limits;
  }

  /**
   * Makes a call, which has a place until it settles, or until `signal` aborts it.
   * @throws SessionServiceUnavailableError (`busy`) at once when there is no place, and the signal's reason
   */
  async run<Result>(signal: AbortSignal | undefined, work: (deadline: Deadline) => Promise<Result>): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#inFlight >= this.#limits.maxInFlight) throw new SessionServiceUnavailableError(unavailable('busy', RETRY_AFTER_SECONDS));
    const deadline = this.#deadlines.start(this.#limits.timeoutMs);
    const abort = (): void => deadline.end('aborted');
    signal?.addEventListener('abort', abort, { once: true });
    this.#inFlight += 1;
    try {
      return await abortable(work(deadline), signal);
    } finally {
      this.#inFlight -= 1;
      signal?.removeEventListener('abort', abort);
      deadline.clear();
    }
  }
}
