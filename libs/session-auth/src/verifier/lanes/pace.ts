/** How much a new duration counts in the average. */
const WEIGHT = 1 / 8;

/**
 * How long answered calls of a lane usually take, and what follows from it. Bounds that depend on `timeoutMs` alone keep a slow phase from
 * locking the lane: a check with half of its time left is always worth a call.
 */
export class Pace {
  readonly #timeoutMs: number;
  #usualMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Milliseconds, an average that follows the last calls; 0 before the first answer. */
  get usualMs(): number {
    return this.#usualMs;
  }

  /** Milliseconds that a check may be expected to wait in the queue: half of its time. */
  get patienceMs(): number {
    return this.#timeoutMs / 2;
  }

  /**
   * Milliseconds that a check may wait for another call to be answered: twice the usual duration. A call of its own must still be able to end in
   * time, so that at least half of `timeoutMs` is left, and a quarter more than the usual duration.
   */
  get sharingMs(): number {
    const longestMs = 0.95 * this.#timeoutMs - Math.max(1.25 * this.#usualMs, this.#timeoutMs / 2);
    return Math.max(0, this.#usualMs === 0 ? longestMs : Math.min(2 * this.#usualMs, longestMs));
  }

  /** A call was answered. */
  record(durationMs: number): void {
    this.#usualMs += this.#usualMs === 0 ? durationMs : (durationMs - this.#usualMs) * WEIGHT;
  }

  /** Whether a call that begins now can be expected to end in time: twice the usual duration, within a tenth and a half of `timeoutMs`. */
  fits(remainingMs: number): boolean {
    return remainingMs >= this.#between(0.1, 0.5);
  }

  /** Whether a call that timed out after so long had its full time: twice the usual duration, within a half and nine tenths of `timeoutMs`. */
  isFullTime(durationMs: number): boolean {
    return durationMs >= this.#between(0.5, 0.9);
  }

  #between(least: number, most: number): number {
    return Math.min(Math.max(2 * this.#usualMs, least * this.#timeoutMs), most * this.#timeoutMs);
  }
}
