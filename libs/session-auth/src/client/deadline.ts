import type { NoReply } from './http/reply.js';

/** Why a deadline ended: its time passed, the application is shutting down, or the caller gave up. */
export type DeadlineEnd = 'timeout' | 'shutting_down' | 'aborted';

type Listener = (end: DeadlineEnd) => void;

/** The total time of one call, over its queue, its attempts and its body. Counts on a monotonic clock; lives no longer than its call. */
export class Deadline {
  readonly #expiresAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #release: (deadline: Deadline) => void;
  #listeners: Listener[] = [];
  #end: DeadlineEnd | undefined;

  constructor(durationMs: number, release: (deadline: Deadline) => void = () => undefined) {
    this.#expiresAt = performance.now() + durationMs;
    this.#timer = setTimeout(() => this.end('timeout'), durationMs).unref();
    this.#release = release;
  }

  /** How it ended, if it has. */
  get ended(): DeadlineEnd | undefined {
    return this.#end;
  }

  /** Milliseconds left, never below zero. */
  get remainingMs(): number {
    return Math.max(0, this.#expiresAt - performance.now());
  }

  /** Calls `listener` once at the end, at once if that has been. */
  onEnd(listener: Listener): void {
    if (this.#end === undefined) this.#listeners.push(listener);
    else listener(this.#end);
  }

  /** Ends it early, for all that listen. */
  end(reason: DeadlineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    const listeners = this.#listeners;
    this.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Stops the clock: the call is over, and nobody needs to hear of its end. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#listeners = [];
    this.#release(this);
  }
}

/** What a call that met its deadline brought. */
export function noReplyAt(end: DeadlineEnd): NoReply {
  return { noReply: end === 'shutting_down' ? end : 'timeout' };
}

/** Starts deadlines and ends all of them when the application shuts down. */
export class Deadlines {
  readonly #graceMs: number;
  readonly #running = new Set<Deadline>();
  readonly #release = (deadline: Deadline): void => this.#remove(deadline);
  #closed = false;
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  /** `graceMs`: how long calls in flight may go on when everything closes. */
  constructor(graceMs = 0) {
    this.#graceMs = graceMs;
  }

  /** Starts the clock of one call. */
  start(durationMs: number): Deadline {
    const deadline = new Deadline(durationMs, this.#release);
    this.#running.add(deadline);
    if (this.#closed) deadline.end('shutting_down');
    return deadline;
  }

  /** Ends every later call at its start. Resolves when the calls in flight are over, each at its deadline at the latest, and all after `graceMs`. */
  close(): Promise<void> {
    return (this.#closing ??= this.#endAll());
  }

  async #endAll(): Promise<void> {
    this.#closed = true;
    if (this.#running.size > 0 && this.#graceMs > 0) await this.#whenIdle();
    for (const deadline of [...this.#running]) deadline.end('shutting_down');
  }

  #whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#graceMs).unref();
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #remove(deadline: Deadline): void {
    this.#running.delete(deadline);
    if (this.#running.size === 0) this.#idle?.();
  }
}

/** Waits for a result until the caller gives up. What others share goes on without him. */
export function abortable<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
