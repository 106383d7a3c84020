import { Deadline } from './deadline.js';

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
