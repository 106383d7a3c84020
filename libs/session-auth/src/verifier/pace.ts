/** Weight of a new duration in the moving average. */
const WEIGHT = 1 / 8;

/**
 * Tracks the usual duration of the answered calls of a lane, and derives waiting times from it. Bounds that
 * depend on `timeoutMs` alone prevent a slow phase from blocking the lane: a check with half of its time left
 * may always make a call.
 */
export class Pace {
  readonly #timeoutMs: number;
  #usualMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Usual duration in milliseconds: a moving average of answered calls; 0 before the first answer. */
  get usualMs(): number {
    return this.#usualMs;
  }

  /** Longest expected wait in the queue for which a check is queued, in milliseconds: half of `timeoutMs`. */
  get patienceMs(): number {
    return this.#timeoutMs / 2;
  }

  /**
   * Milliseconds that a check may wait for the call of another instance. The check must still have time for
   * its own call: at least half of `timeoutMs`, and the usual duration plus a quarter.
   */
  get sharingMs(): number {
    return Math.max(0, 0.95 * this.#timeoutMs - Math.max(1.25 * this.#usualMs, this.#timeoutMs / 2));
  }

  /** Records the duration of an answered call, in milliseconds. */
  record(durationMs: number): void {
    this.#usualMs += this.#usualMs === 0 ? durationMs : (durationMs - this.#usualMs) * WEIGHT;
  }

  /**
   * Returns whether a call that begins now can be expected to end in time. It needs twice the usual duration,
   * but at least a tenth and at most half of `timeoutMs`.
   */
  fits(remainingMs: number): boolean {
    return remainingMs >= this.#between(0.1, 0.5);
  }

  /**
   * Returns whether a call that timed out after `durationMs` had its full time: twice the usual duration, but
   * at least half and at most nine tenths of `timeoutMs`.
   */
  isFullTime(durationMs: number): boolean {
    return durationMs >= this.#between(0.5, 0.9);
  }

  #between(least: number, most: number): number {
    return Math.min(Math.max(2 * this.#usualMs, least * this.#timeoutMs), most * this.#timeoutMs);
  }
}
