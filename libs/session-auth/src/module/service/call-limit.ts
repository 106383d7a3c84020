import { abortable, type Deadline, type Deadlines } from '../../client/deadline.js';
import { SessionServiceUnavailableError } from '../../exceptions/session-exceptions.js';
import { unavailable } from '../../contract/outcome.js';

/** Limits one kind of calls: how many are in flight, and how long each takes. Calls are never queued. */
export class CallLimit {
  readonly #deadlines: Deadlines;
  readonly #maxInFlight: number;
  readonly #timeoutMs: number;
  #inFlight = 0;

  constructor(deadlines: Deadlines, maxInFlight: number, timeoutMs: number) {
    this.#deadlines = deadlines;
    this.#maxInFlight = maxInFlight;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs a call. It counts as in flight until it settles or `signal` aborts it.
   * @throws SessionServiceUnavailableError (`busy`) at once if the limit is reached, and the reason of the
   * signal
   */
  async run<Result>(
    signal: AbortSignal | undefined,
    work: (deadline: Deadline) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#inFlight >= this.#maxInFlight) throw new SessionServiceUnavailableError(unavailable('busy', 1));
    const deadline = this.#deadlines.start(this.#timeoutMs);
    const abort = (): void => deadline.end('timeout');
    signal?.addEventListener('abort', abort);
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
