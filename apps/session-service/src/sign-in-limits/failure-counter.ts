import { type MonotonicClock } from './monotonic-clock.js';

/** Tolerance for rounding errors of a fading count. */
const TOLERANCE = 1e-6;

interface Count {
  readonly failures: number;
  readonly at: number;
}

/**
 * Counts failures by key. A count fades linearly from the maximum to zero within the window, so that attempts
 * become possible again one by one, not all at once. The table is bounded.
 */
export class FailureCounter {
  private readonly counts = new Map<string, Count>();

  /**
   * @param max - failures that fade within the window; a further one must wait
   * @param windowMs - milliseconds
   * @param maxEntries - number of keys; the key that failed longest ago is evicted
   * @param clock - measures the fading
   */
  constructor(
    private readonly max: number,
    private readonly windowMs: number,
    private readonly maxEntries: number,
    private readonly clock: MonotonicClock,
  ) {}

  /** Number of keys, including those whose count has faded to zero. */
  get size(): number {
    return this.counts.size;
  }

  /**
   * Returns the milliseconds until another failure of the key is within the limit, or 0. Counts nothing.
   *
   * @param cost - the number of failures that it counts as, up to the maximum
   */
  waitMs(key: string, cost = 1): number {
    const excess = this.failuresOf(key) + cost - this.max;
    return excess > TOLERANCE ? (excess * this.windowMs) / this.max : 0;
  }

  /** Counts a failure of the key. */
  add(key: string, cost = 1): void {
    const failures = Math.min(this.failuresOf(key) + cost, this.max);
    this.counts.delete(key);
    this.counts.set(key, { failures, at: this.clock.now() });
    for (const oldest of this.counts.keys()) {
      if (this.counts.size <= this.maxEntries) break;
      this.counts.delete(oldest);
    }
  }

  /** Sets the count of the key to zero. */
  clear(key: string): void {
    this.counts.delete(key);
  }

  private failuresOf(key: string): number {
    const count = this.counts.get(key);
    if (!count) return 0;
    return Math.max(0, count.failures - ((this.clock.now() - count.at) * this.max) / this.windowMs);
  }
}
