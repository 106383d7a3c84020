/** Milliseconds for which a step back is not followed: longer than a session is stored. */
const HOLD_MS = 600_000;

/**
 * The wall clock of this host, except that it does not step back: a stored session would live longer by it. After ten minutes it follows the step,
 * because every session that was stored before has expired.
 */
export class HostClock {
  /** Wall clock at time 0 of the monotonic clock. */
  #offsetMs = -Infinity;
  #agreedAtMs = -Infinity;

  /** Returns the time in milliseconds since the epoch. */
  now(): number {
    const nowMs = performance.now();
    const offsetMs = Date.now() - nowMs;
    if (offsetMs >= this.#offsetMs || nowMs - this.#agreedAtMs > HOLD_MS) {
      this.#offsetMs = offsetMs;
      this.#agreedAtMs = nowMs;
    }
    return nowMs + this.#offsetMs;
  }
}
