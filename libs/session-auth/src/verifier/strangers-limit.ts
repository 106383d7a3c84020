interface StrangersLimitSettings {
  readonly maxInFlight: number;
  readonly timeoutMs: number;
}

const CALLS_PER_SAMPLE = 10;
const FIRST_LIMIT = 16;
const FIRST_PART = 1 / 8;
/** Minimum limit, as a part of `maxInFlight`; at least 1. */
const LEAST_PART = 1 / 32;
const GROWTH = 1.25;
/** Time that a check of a known session enforces the limit: the longest lifetime of a cached session. */
const PROTECTED_MS = 300_000;

interface Sample {
  readonly atMs: number;
  calls: number;
  totalMs: number;
  longCalls: number;
}

/** Calls of strangers that take less than this part of `timeoutMs` let the limit grow. */
const QUICK_PART = 1 / 4;
/** If calls still take at least this part of their former duration, strangers are not the cause. */
const NO_IMPROVEMENT = 0.8;

/**
 * Adaptive limit of the strangers' calls in flight. A service with limited capacity queues the calls beyond
 * it, and known sessions would wait in that queue.
 *
 * - It becomes half of the strangers in flight if most calls of known sessions in a sample take more than
 * twice the lowest average so far. Calls of strangers never lower it: a refusal may take no time, so that an
 * anonymous caller could make every good call look slow.
 * - If it was reached, it grows by a quarter, or to the most calls in flight if that is more, while known
 * sessions are not slowed or strangers are answered quickly.
 * - If two reductions do not make calls faster, the service itself has become slower, and the former limit is
 * restored.
 */
export class StrangersLimit {
  readonly #settings: StrangersLimitSettings;
  readonly #least: number;
  #known = newSample();
  #strangers = newSample();
  /** Maximum number of calls in flight while it is enforced: a whole number from 1 to `maxInFlight`. */
  current: number;
  #lowestMs = Infinity;
  /** Maximum number of strangers in flight since the limit last grew or shrank, or was tested for that. */
  #peak = 0;
  /** The limit before it began to fall, and the average duration of known sessions' calls then. */
  #fall: { readonly limit: number; readonly averageMs: number; steps: number } | undefined;
  #enforcedUntilMs = -Infinity;

  constructor(settings: StrangersLimitSettings) {
    const { maxInFlight } = settings;
    this.#settings = settings;
    this.#least = Math.max(1, Math.floor(maxInFlight * LEAST_PART));
    this.current = Math.min(maxInFlight, Math.max(FIRST_LIMIT, Math.floor(maxInFlight * FIRST_PART)));
  }

  enforce(nowMs: number): void {
    this.#enforcedUntilMs = nowMs + PROTECTED_MS;
  }

  isReached(inFlight: number): boolean {
    return inFlight >= this.current && performance.now() < this.#enforcedUntilMs;
  }

  /** Records a call that was answered or timed out. `inFlight`: calls of strangers, including this one. */
  record(durationMs: number, nowMs: number, inFlight: number): void {
    this.#peak = Math.max(this.#peak, inFlight);
    const sample = this.#strangers;
    if (!addTo(sample, durationMs, nowMs, this.#settings.timeoutMs * QUICK_PART)) return;
    if (!this.#fall && sample.longCalls * 2 <= sample.calls) this.#grow();
    this.#strangers = newSample(nowMs);
  }

  recordKnown(durationMs: number, nowMs: number): void {
    const sample = this.#known;
    const { timeoutMs } = this.#settings;
    const longMs = Math.min(Math.max(2 * this.#lowestMs, timeoutMs / 10), timeoutMs * 0.75);
    if (!addTo(sample, durationMs, nowMs, longMs)) return;
    const averageMs = sample.totalMs / sample.calls;
    this.#lowestMs = Math.min(this.#lowestMs, averageMs);
    if (sample.longCalls * 2 > sample.calls) this.#shrink(averageMs);
    else {
      this.#fall = undefined;
      this.#grow();
    }
    this.#known = newSample(nowMs);
  }

  #grow(): void {
    const { maxInFlight } = this.#settings;
    if (this.#peak >= this.current)
      this.current = Math.min(maxInFlight, Math.max(this.#peak, Math.ceil(this.current * GROWTH)));
    this.#peak = 0;
  }

  #shrink(averageMs: number): void {
    this.#fall ??= { limit: this.current, averageMs, steps: 0 };
    const { limit, averageMs: before, steps } = this.#fall;
    if ((steps >= 2 && averageMs >= before * NO_IMPROVEMENT) || this.current === this.#least) {
      this.#lowestMs = averageMs;
      this.#fall = undefined;
      if (averageMs < this.#settings.timeoutMs * 0.75) this.current = limit;
    } else {
      this.#fall.steps += 1;
      this.current = Math.max(
        this.#least,
        Math.floor(Math.min(this.current, this.#peak || this.current) / 2),
      );
    }
    this.#peak = 0;
  }
}

function newSample(atMs = -Infinity): Sample {
  return { atMs, calls: 0, totalMs: 0, longCalls: 0 };
}

/** Adds a call to a sample, unless it began before the sample. Returns whether the sample is complete. */
function addTo(sample: Sample, durationMs: number, nowMs: number, longMs: number): boolean {
  if (nowMs - durationMs < sample.atMs) return false;
  sample.calls += 1;
  sample.totalMs += durationMs;
  if (durationMs > longMs) sample.longCalls += 1;
  return sample.calls >= CALLS_PER_SAMPLE;
}
