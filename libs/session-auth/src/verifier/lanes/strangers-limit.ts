/** Bounds of a {@link StrangersLimit}. */
export interface StrangersLimitSettings {
  readonly maxInFlight: number;
  readonly timeoutMs: number;
}

/** Calls and milliseconds that one look at the durations takes at least. */
const CALLS_PER_LOOK = 10;
const MIN_LOOK_MS = 100;
/** Where the limit begins, in calls, and as a part of `maxInFlight` where that is more. */
const FIRST_LIMIT = 16;
const FIRST_PART = 1 / 8;
/** The limit is never below this part of `maxInFlight`, nor below 1. */
const LEAST_PART = 1 / 32;
const GROWTH = 1.25;
const PROTECTED_MS = 300_000;

/**
 * How many calls of strangers may be in flight. A service that can only do so much at a time makes a queue of its own out of more calls, and
 * known sessions would wait in it. So the limit follows the durations of strangers' calls, ten or more of them at a look, and only those that
 * began since the last look: where most of them take more than twice the lowest average that was seen, the limit becomes half of the calls in flight;
 * where they do not, and the limit was reached, it grows by a quarter, or to as many as were in flight. Less than a tenth of `timeoutMs` is never too long, more than three
 * quarters always is. Where they stay long at the least limit, the load is not the cause: the service has become slower, and that average is the
 * new lowest. The limit holds while there are known sessions to protect: for five minutes, the longest lifetime of a cached session, after each check of a known one.
 */
export class StrangersLimit {
  readonly #settings: StrangersLimitSettings;
  readonly #least: number;
  #limit: number;
  #lowestMs = Infinity;
  #lookedAtMs = -Infinity;
  #calls = 0;
  #totalMs = 0;
  #longCalls = 0;
  #most = 0;
  #holdsUntilMs = -Infinity;

  constructor(settings: StrangersLimitSettings) {
    const { maxInFlight } = settings;
    this.#settings = settings;
    this.#least = Math.max(1, Math.floor(maxInFlight * LEAST_PART));
    this.#limit = Math.min(maxInFlight, Math.max(FIRST_LIMIT, Math.floor(maxInFlight * FIRST_PART)));
  }

  /** Calls at once, a whole number from 1 to `maxInFlight`, while the limit holds. */
  get current(): number {
    return this.#limit;
  }

  /** A known session was checked: the limit holds from now on. */
  protect(nowMs: number): void {
    this.#holdsUntilMs = nowMs + PROTECTED_MS;
  }

  /** Whether the limit holds, and so many calls in flight are as many as may be. */
  isReached(inFlight: number): boolean {
    return inFlight >= this.#limit && performance.now() < this.#holdsUntilMs;
  }

  /** A call was answered, or timed out; so many were in flight with it. */
  learn(durationMs: number, nowMs: number, inFlight: number): void {
    if (nowMs - durationMs < this.#lookedAtMs) return;
    if (this.#calls === 0 && this.#lookedAtMs === -Infinity) this.#lookedAtMs = nowMs - durationMs;
    this.#calls += 1;
    this.#totalMs += durationMs;
    if (durationMs > this.#longMs()) this.#longCalls += 1;
    this.#most = Math.max(this.#most, inFlight);
    if (this.#calls >= CALLS_PER_LOOK && nowMs - this.#lookedAtMs >= MIN_LOOK_MS) this.#look(nowMs, inFlight);
  }

  #look(nowMs: number, inFlight: number): void {
    const averageMs = this.#totalMs / this.#calls;
    this.#lowestMs = Math.min(this.#lowestMs, averageMs);
    if (this.#longCalls * 2 > this.#calls) this.#shrink(averageMs, inFlight);
    else if (this.#most >= this.#limit)
      this.#limit = Math.min(this.#settings.maxInFlight, Math.max(this.#most, Math.ceil(this.#limit * GROWTH)));
    this.#lookedAtMs = nowMs;
    this.#calls = 0;
    this.#totalMs = 0;
    this.#longCalls = 0;
    this.#most = 0;
  }

  #shrink(averageMs: number, inFlight: number): void {
    if (this.#limit === this.#least) this.#lowestMs = averageMs;
    this.#limit = Math.max(this.#least, Math.floor(Math.min(this.#limit, inFlight) / 2));
  }

  #longMs(): number {
    const { timeoutMs } = this.#settings;
    return Math.min(Math.max(2 * this.#lowestMs, timeoutMs / 10), timeoutMs * 0.75);
  }
}
