/** Milliseconds by which the wall clocks of two hosts may differ before that is reported. */
export const CLOCK_TOLERANCE_MS = 60_000;
/** Milliseconds for which a step back is not followed: longer than a session is stored. */
const HOLD_MS = 600_000;
/** The wall clock has whole milliseconds. */
const GRANULARITY_MS = 2;

/**
 * The wall clock of this host, except that it does not step back: a stored session would live longer by it.
 * Ten minutes after it noticed the step, it follows, because every session that was stored before has
 * expired.
 */
export class HostClock {
  /** Wall clock at time 0 of the monotonic clock. */
  #offsetMs = -Infinity;
  /** When the wall clock was first found to be behind; `Infinity` if it is not. */
  #behindSinceMs = Infinity;

  now(): number {
    const nowMs = performance.now();
    const offsetMs = Date.now() - nowMs;
    const isBehind = offsetMs < this.#offsetMs - GRANULARITY_MS;
    this.#behindSinceMs = isBehind ? Math.min(this.#behindSinceMs, nowMs) : Infinity;
    const isFollowed = nowMs - this.#behindSinceMs > HOLD_MS;
    this.#offsetMs = isFollowed ? offsetMs : Math.max(this.#offsetMs, offsetMs);
    return nowMs + this.#offsetMs;
  }
}
