import { type MonotonicClock } from './monotonic-clock.js';

/** Rounding errors of a count that fades. */
const TOLERANCE = 1e-6;

interface Count {
  readonly failures: number;
  readonly at: number;
}

/**
 * Counts failures by key. A count fades steadily, from the maximum to zero within the window: a refused caller gets one
 * attempt after the other back, and not all of them at once. The table is bounded.
 */
export class FailureCounter {
  private readonly counts = new Map<string, Count>();

  /**
   * @param max - failures that fade within the window; one more has to wait
   * @param windowMs - milliseconds
   * @param maxEntries - keys; the one that failed longest ago is evicted
   * @param clock - measures the fading
   */
  constructor(
    private readonly max: number,
    private readonly windowMs: number,
    private readonly maxEntries: number,
    private readonly clock: MonotonicClock,
  ) {}

  /** Keys that are counted now, faded ones included. */
  get size(): number {
    return this.counts.size;
  }

  /**
   * Returns the milliseconds until another failure of the key is within the limit; 0: it is now. Counts nothing.
   *
   * @param cost - what that failure would count as, up to the maximum
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
