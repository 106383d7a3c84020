/** Why a deadline ended: its time passed, the application is shutting down, or the caller gave up. */
export type DeadlineEnd = 'timeout' | 'shutting_down' | 'aborted';

/** The total time of one call, over its queue, its attempts and its body. Counts on a monotonic clock. */
export class Deadline {
  readonly #expiresAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #release: (deadline: Deadline) => void;
  readonly #listeners = new Set<(end: DeadlineEnd) => void>();
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

  /** Calls `listener` once at the end, at once if that has been; returns how to stop listening. */
  onEnd(listener: (end: DeadlineEnd) => void): () => void {
    if (this.#end !== undefined) listener(this.#end);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends it early, for all that listen. */
  end(reason: DeadlineEnd): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.clear();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Stops the clock: the call is over. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#release(this);
  }
}

/** Starts deadlines and ends all of them when the application shuts down. */
export class Deadlines {
  readonly #running = new Set<Deadline>();
  readonly #release = (deadline: Deadline): void => void this.#running.delete(deadline);
  #closed = false;

  /** Starts the clock of one call. */
  start(durationMs: number): Deadline {
    const deadline = new Deadline(durationMs, this.#release);
    this.#running.add(deadline);
    if (this.#closed) deadline.end('shutting_down');
    return deadline;
  }

  /** Ends every running call, and every later one at its start. */
  close(): void {
    this.#closed = true;
    for (const deadline of [...this.#running]) deadline.end('shutting_down');
  }
}
