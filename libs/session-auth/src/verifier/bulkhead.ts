import type { Deadline, DeadlineEnd } from '../client/deadline.js';

/** How many calls may run at once, and how many may wait for their turn. */
export interface BulkheadSettings {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

/** What came of asking for a place: it, none, or the end of the deadline. */
export type Admission = 'admitted' | 'full' | DeadlineEnd;

/** Bounds the calls in flight and those that wait. A refusal is a value: under a flood there is nothing to throw. */
export class Bulkhead {
  readonly #settings: BulkheadSettings;
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;

  constructor(settings: BulkheadSettings) {
    this.#settings = settings;
  }

  /** Takes a place, or waits for one until the deadline. Who was admitted must {@link leave}. */
  enter(deadline: Deadline): Admission | Promise<Admission> {
    if (deadline.ended) return deadline.ended;
    if (this.#inFlight < this.#settings.maxInFlight) {
      this.#inFlight += 1;
      return 'admitted';
    }
    return this.#waiting.size < this.#settings.maxQueued ? this.#wait(deadline) : 'full';
  }

  /** Gives the place to the one that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#inFlight -= 1;
  }

  #wait(deadline: Deadline): Promise<Admission> {
    return new Promise((resolve) => {
      const proceed = (): void => {
        this.#waiting.delete(proceed);
        resolve('admitted');
      };
      this.#waiting.add(proceed);
      deadline.onEnd((end) => {
        this.#waiting.delete(proceed);
        resolve(end);
      });
    });
  }
}
