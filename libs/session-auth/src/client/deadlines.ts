import { Deadline } from './deadline.js';

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
