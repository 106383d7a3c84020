/** Bounds of a {@link StrangersLimit}. */
export interface StrangersLimitSettings {
  readonly maxInFlight: number;
  readonly timeoutMs: number;
}

/** Calls and milliseconds that one look at the durations takes at least. */
const CALLS_PER_SAMPLE = 10;
const MIN_SAMPLE_MS = 100;
/** Where the limit begins, in calls, and as a part of `maxInFlight` where that is more. */
const FIRST_LIMIT = 16;
const FIRST_PART = 1 / 8;
/** The limit is never below this part of `maxInFlight`, nor below 1. */
const LEAST_PART = 1 / 32;
const GROWTH = 1.25;
const PROTECTED_MS = 300_000;

/** Calls of one lane that began since it was last looked at. */
interface Sample {
  atMs: number;
  calls: number;
  totalMs: number;
  longCalls: number;
}

/** Strangers' calls that take less than this part of `timeoutMs` let the limit grow. */
const QUICK_PART = 1 / 4;
/** After two reductions, calls of known sessions that still take this part of what they took show that strangers are not the cause. */
const NO_BETTER = 0.8;

/**
 * How many calls of strangers may be in flight. A service that can only do so much at a time makes a queue of its own out of more calls, and
 * known sessions would wait in it. So the limit falls when their calls do: where most of ten or more take over twice the lowest average that was seen, it
 * becomes half of the strangers in flight. Strangers' own calls never lower it: a refusal may take no time, and an anonymous caller could make every good call look long.
 * Where known sessions do not wait, or strangers are answered quickly, and the limit was reached, it grows by a quarter, or to as many as were in flight.
 * Less than a tenth of `timeoutMs` is never too long, more than three quarters always is. Where a limit of a quarter makes calls no quicker, the
 * service has become slower, and the limit returns. The limit holds while there are known sessions to protect: for five minutes, the longest
 * lifetime of a cached session, after each check of a known one.
 */
export class StrangersLimit {
  readonly #settings: StrangersLimitSettings;
  readonly #least: number;
  readonly #known = newSample();
  readonly #strangers = newSample();
  #limit: number;
  #lowestMs = Infinity;
  /** Strangers in flight at most, since the limit changed last. */
  #most = 0;
  /** Where the limit began to fall, and how long calls of known sessions took then. */
  #fall: { readonly limit: number; readonly averageMs: number; steps: number } | undefined;
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
  hold(nowMs: number): void {
    this.#holdsUntilMs = nowMs + PROTECTED_MS;
  }

  /** Whether the limit holds, and so many calls in flight are as many as may be. */
  isReached(inFlight: number): boolean {
    return inFlight >= this.#limit && performance.now() < this.#holdsUntilMs;
  }

  /** A call of a stranger was answered, or timed out; so many were in flight with it. */
  record(durationMs: number, nowMs: number, inFlight: number): void {
    this.#most = Math.max(this.#most, inFlight);
    const look = this.#strangers;
    if (!isComplete(look, durationMs, nowMs, this.#settings.timeoutMs * QUICK_PART)) return;
    if (!this.#fall && look.longCalls * 2 <= look.calls) this.#grow();
    restart(look, nowMs);
  }

  /** The same of a known session. */
  recordKnown(durationMs: number, nowMs: number): void {
    const look = this.#known;
    if (!isComplete(look, durationMs, nowMs, this.#longMs())) return;
    const averageMs = look.totalMs / look.calls;
    this.#lowestMs = Math.min(this.#lowestMs, averageMs);
    if (look.longCalls * 2 > look.calls) this.#shrink(averageMs);
    else {
      this.#fall = undefined;
      this.#grow();
    }
    restart(look, nowMs);
  }

  #grow(): void {
    const { maxInFlight } = this.#settings;
    if (this.#most >= this.#limit) this.#limit = Math.min(maxInFlight, Math.max(this.#most, Math.ceil(this.#limit * GROWTH)));
    this.#most = 0;
  }

  #shrink(averageMs: number): void {
    this.#fall ??= { limit: this.#limit, averageMs, steps: 0 };
    const { limit, averageMs: before, steps } = this.#fall;
    if ((steps >= 2 && averageMs >= before * NO_BETTER) || this.#limit === this.#least) {
      this.#lowestMs = averageMs;
      this.#fall = undefined;
      if (averageMs < this.#settings.timeoutMs * 0.75) this.#limit = limit;
    } else {
      this.#fall.steps += 1;
      this.#limit = Math.max(this.#least, Math.floor(Math.min(this.#limit, this.#most || this.#limit) / 2));
    }
    this.#most = 0;
  }

  #longMs(): number {
    const { timeoutMs } = this.#settings;
    return Math.min(Math.max(2 * this.#lowestMs, timeoutMs / 10), timeoutMs * 0.75);
  }
}

function newSample(): Sample {
  return { atMs: -Infinity, calls: 0, totalMs: 0, longCalls: 0 };
}

function restart(look: Sample, nowMs: number): void {
  Object.assign(look, newSample(), { atMs: nowMs });
}

/** Counts a call, unless it began before the look; whether there are enough. */
function isComplete(look: Sample, durationMs: number, nowMs: number, longMs: number): boolean {
  if (nowMs - durationMs < look.atMs) return false;
  if (look.calls === 0 && look.atMs === -Infinity) look.atMs = nowMs - durationMs;
  look.calls += 1;
  look.totalMs += durationMs;
  if (durationMs > longMs) look.longCalls += 1;
  return look.calls >= CALLS_PER_SAMPLE && nowMs - look.atMs >= MIN_SAMPLE_MS;
}
