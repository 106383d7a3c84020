import { type Unavailable, unavailable, type UnavailableReason } from '../contract/outcome.js';

/** Why a deadline ended: its time passed, or its caller waits no longer; or the application is shutting down. */
export type DeadlineEnd = Extract<UnavailableReason, 'timeout' | 'shutting_down'>;

type Listener = (end: DeadlineEnd) => void;

/**
 * Limit on the total time of one call, including its queue, attempts and body. Uses a monotonic clock.
 * Cleared when the call completes.
 */
export class Deadline {
  readonly #expiresAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #release: (deadline: Deadline) => void;
  #listeners: Listener[] = [];
  /** Why the deadline ended; `undefined` until it ends. */
  ended: DeadlineEnd | undefined;
  /** Milliseconds that the attempt under way spent on a connection that was dead. */
  lostMs = 0;
  /** Its place among those that run; -1 if it is not one of them. */
  place = -1;

  constructor(durationMs: number, release: (deadline: Deadline) => void = () => undefined) {
    this.#expiresAt = performance.now() + durationMs;
    this.#timer = setTimeout(() => this.end('timeout'), durationMs).unref();
    this.#release = release;
  }

  /** Milliseconds left, at least 0. */
  get remainingMs(): number {
    return Math.max(0, this.#expiresAt - performance.now());
  }

  /** Calls `listener` once when the deadline ends; immediately if it already has. */
  onEnd(listener: Listener): void {
    if (this.ended === undefined) this.#listeners.push(listener);
    else listener(this.ended);
  }

  end(reason: DeadlineEnd): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    const listeners = this.#listeners;
    this.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Stops the timer and removes the listeners, because the call has completed. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#listeners = [];
    this.#release(this);
  }
}

/** The longest delay of a timer, in milliseconds: 25 days. */
const LONGEST_MS = 2 ** 31 - 1;
let held = 0;
let hold: NodeJS.Timeout | undefined;

/**
 * Keeps the process alive until `work` settles, because a caller awaits it. Nothing else of a call does: its
 * timers and sockets are the same in the background, where they must not.
 */
export function holdProcess<Result>(work: () => Promise<Result>): Promise<Result> {
  const pending = work();
  held += 1;
  hold ??= setTimeout(() => undefined, LONGEST_MS);
  const release = (): void => {
    held -= 1;
    if (held > 0) return;
    clearTimeout(hold);
    hold = undefined;
  };
  pending.then(release, release);
  return pending;
}

/** Starts deadlines, and ends them all when the application shuts down. */
export class Deadlines {
  readonly #graceMs: number;
  /** No Set: V8 keeps what one that changes so often contained, until a full collection of garbage. */
  readonly #running: Deadline[] = [];
  readonly #release = (deadline: Deadline): void => {
    const { place } = deadline;
    if (place < 0) return;
    deadline.place = -1;
    const last = this.#running.pop();
    if (last && last !== deadline) {
      last.place = place;
      this.#running[place] = last;
    }
    if (this.#running.length === 0) this.#idle?.();
  };
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  /** `graceMs`: milliseconds for which calls in flight may continue after `close()`. */
  constructor(graceMs = 0) {
    this.#graceMs = graceMs;
  }

  start(durationMs: number): Deadline {
    const deadline = new Deadline(durationMs, this.#release);
    deadline.place = this.#running.push(deadline) - 1;
    if (this.#closing) deadline.end('shutting_down');
    return deadline;
  }

  /**
   * Ends later deadlines at their start. Resolves when all calls in flight have completed or ended: at their
   * deadlines, or after `graceMs`.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      const endAll = (): void => {
        for (const deadline of [...this.#running]) deadline.end('shutting_down');
      };
      const timer = setTimeout(endAll, this.#graceMs).unref();
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#running.length === 0) this.#idle();
    });
    return this.#closing;
  }
}

/**
 * Returns a promise that settles as `result`, or rejects with the signal's reason if it aborts first. Other
 * callers of `result` are not affected.
 */
export function abortable<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Settles as `result`, or with the end of the deadline if that is earlier. */
export function inTime<Result>(deadline: Deadline, result: Promise<Result>): Promise<Result | Unavailable> {
  return new Promise((resolve, reject) => {
    deadline.onEnd((end) => resolve(unavailable(end)));
    result.then(resolve, reject);
  });
}
