/** The majority of so many calls of known sessions decides, because a single slow call says nothing. */
const CALLS_PER_SAMPLE = 10;
/** The first limit: twice the calls that one token may have, so that one caller can't take all places. */
const FIRST_CALLS = 16;
/** Parts of `maxInFlight`: at first, if that is more, and at least, so that new users still get in. */
const FIRST_PART = 1 / 8;
const LEAST_PART = 1 / 32;
/** A call that takes more than twice the usual time waits for longer than the service works on it. */
const SLOW = 2;
/** Parts of `timeoutMs`: no user notices less than the first, and little is missing to a timeout at the last. */
const NEVER_SLOW_PART = 1 / 10;
const QUICK_PART = 1 / 4;
const ALWAYS_SLOW_PART = 3 / 4;
/** Time for which a check of a known session enforces the limit: the longest lifetime of a cached session. */
const PROTECTED_MS = 300_000;

/**
 * Adaptive limit of the strangers' calls in flight. A service with limited capacity queues the calls beyond
 * it, and known sessions would wait in that queue.
 *
 * It is the congestion window of TCP (RFC 5681: slow start, additive increase, multiplicative decrease). Its
 * signal is the delay of known sessions' calls, as in TCP Vegas. Calls of strangers never reduce it: a
 * refusal may take no time, and an anonymous caller could make every good call look slow.
 */
export class StrangersLimit {
  readonly #least: number;
  #window: number;
  /** Below it, each good call adds one to the window (slow start), above it each window of good calls. */
  #threshold: number;
  /** Lowest average duration of a sample. */
  #baseMs = Infinity;
  /** Maximum number of strangers in flight since the window last changed. */
  #peak = 0;
  #sample = { atMs: -Infinity, calls: 0, slowCalls: 0, totalMs: 0 };
  #enforcedUntilMs = -Infinity;

  constructor(
    private readonly maxInFlight: number,
    private readonly timeoutMs: number,
  ) {
    this.#least = Math.max(1, maxInFlight * LEAST_PART);
    this.#window = Math.min(maxInFlight, Math.max(FIRST_CALLS, maxInFlight * FIRST_PART));
    this.#threshold = maxInFlight;
  }

  enforce(nowMs: number): void {
    this.#enforcedUntilMs = nowMs + PROTECTED_MS;
  }

  isReached(inFlight: number): boolean {
    return inFlight >= Math.floor(this.#window) && performance.now() < this.#enforcedUntilMs;
  }

  /** Records a stranger's call that was answered or timed out. `inFlight` includes it. */
  record(durationMs: number, inFlight: number): void {
    this.#peak = Math.max(this.#peak, inFlight);
    if (durationMs <= this.timeoutMs * QUICK_PART) this.#grow();
  }

  recordKnown(durationMs: number, nowMs: number): void {
    const sample = this.#sample;
    if (nowMs - durationMs < sample.atMs) return;
    const slowMs = Math.max(SLOW * this.#baseMs, this.timeoutMs * NEVER_SLOW_PART);
    const isSlow = durationMs > Math.min(slowMs, this.timeoutMs * ALWAYS_SLOW_PART);
    if (!isSlow) this.#grow();
    sample.calls += 1;
    sample.slowCalls += Number(isSlow);
    sample.totalMs += durationMs;
    if (sample.calls < CALLS_PER_SAMPLE) return;
    const averageMs = sample.totalMs / sample.calls;
    if (sample.slowCalls * 2 > sample.calls) this.#shrink(averageMs);
    else this.#baseMs = Math.min(this.#baseMs, averageMs);
    this.#sample = { atMs: nowMs, calls: 0, slowCalls: 0, totalMs: 0 };
  }

  #grow(): void {
    if (this.#peak < Math.floor(this.#window)) return;
    this.#window += this.#window < this.#threshold ? 1 : 1 / this.#window;
    this.#window = Math.min(this.#window, this.maxInFlight);
    this.#peak = 0;
  }

  #shrink(averageMs: number): void {
    if (this.#window > this.#least) {
      this.#window = Math.max(this.#least, Math.min(this.#window, this.#peak || this.#window) / 2);
      this.#threshold = this.#window;
    } else {
      // Strangers are not the cause: the service has become slower for everyone.
      this.#baseMs = averageMs;
      this.#threshold = this.maxInFlight;
    }
    this.#peak = 0;
  }
}
