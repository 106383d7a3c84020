/** Changes of the wall clock against the monotonic clock, between two times of the monotonic clock. */
interface Step {
  readonly fromMs: number;
  toMs: number;
  /** Sum of the changes ahead. */
  aheadMs: number;
  /** Sum of all changes. */
  byMs: number;
}

/** Date.now() counts whole milliseconds, and is read a little later than the other clock. */
const GRANULARITY_MS = 2;
/** The clocks were not read at the same time if it took this long. */
const INTERRUPTION_MS = 0.1;
const MAX_ATTEMPTS = 10;
/** Changes within this part of a lifetime are one step, so that a clock that is slewed makes few steps. */
const STEPS_OF_LIFETIME = 16;

/**
 * Notices when the wall clock moves further than the monotonic clock, as on a suspended machine, or is set
 * back. A lifetime ends when either clock says so, and an age below zero is unusable: how long ago the clock
 * was set back is unknown. Times are those of the monotonic clock.
 */
export class ClockSteps {
  readonly #lifetimeMs: number;
  readonly #steps: Step[] = [];
  #differenceMs: number;
  #observedMs: number;
  #backMs = 0;

  /** @param lifetimeMs longest age that is asked for */
  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#observedMs = performance.now();
    this.#differenceMs = measure();
  }

  get backMs(): number {
    return this.#backMs;
  }

  get hasNone(): boolean {
    return this.#steps.length === 0;
  }

  /** Compares the clocks: before each use and when a lifetime begins, so that no step is overlooked. */
  observe(nowMs = performance.now(), wallMs = Date.now()): void {
    const isReplaced = nowMs < this.#observedMs;
    this.#observedMs = nowMs;
    // That is another clock, such as that of fake timers: the wall clock has not stepped.
    if (isReplaced) this.#differenceMs = measure();
    if (this.#steps.length > 0) this.#forgetBefore(nowMs - this.#lifetimeMs);
    if (Math.abs(wallMs - nowMs - this.#differenceMs) < GRANULARITY_MS) return;
    const differenceMs = measure();
    const byMs = differenceMs - this.#differenceMs;
    if (Math.abs(byMs) < GRANULARITY_MS) return;
    this.#differenceMs = differenceMs;
    this.#add(performance.now(), byMs);
  }

  /** Whether what began at a time is less than `ageMs` old by both clocks, and no age is below zero. */
  isYounger(startMs: number, ageMs: number, nowMs: number): boolean {
    const byMonotonicMs = nowMs - startMs;
    let [aheadMs, byMs] = [0, 0];
    for (let index = this.#steps.length - 1; index >= 0; index -= 1) {
      const step = this.#steps[index];
      if (!step || step.toMs < startMs) break;
      aheadMs += step.aheadMs;
      byMs += step.byMs;
    }
    return byMonotonicMs >= 0 && byMonotonicMs + byMs >= 0 && byMonotonicMs + aheadMs < ageMs;
  }

  #forgetBefore(timeMs: number): void {
    while (this.#steps[0] && this.#steps[0].toMs < timeMs) this.#steps.shift();
  }

  #add(nowMs: number, byMs: number): void {
    const aheadMs = Math.max(0, byMs);
    this.#backMs += aheadMs - byMs;
    const last = this.#steps.at(-1);
    if (last && nowMs - last.fromMs < this.#lifetimeMs / STEPS_OF_LIFETIME) {
      last.toMs = nowMs;
      last.aheadMs += aheadMs;
      last.byMs += byMs;
      return;
    }
    this.#steps.push({ fromMs: nowMs, toMs: nowMs, aheadMs, byMs });
  }
}

function measure(): number {
  let differenceMs = 0;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const beforeMs = performance.now();
    differenceMs = Date.now() - beforeMs;
    if (performance.now() - beforeMs < INTERRUPTION_MS) break;
  }
  return differenceMs;
}

/**
 * Returns the milliseconds since a time that was read from both clocks, by the one that says more. `Infinity`
 * if the wall clock was set back behind that time.
 */
export function ageMs(sinceMs: number, sinceWallMs: number): number {
  const byWallMs = Date.now() - sinceWallMs;
  return byWallMs < 0 ? Infinity : Math.max(byWallMs, performance.now() - sinceMs);
}
