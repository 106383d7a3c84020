interface Slice {
  readonly startedAtMs: number;
  succeeded: number;
  failed: number;
}

/** Number of slices of the window. The oldest slice is removed as a whole. */
const SLICES = 10;

/** Counts successes and failures within a sliding window. */
export class RollingWindow {
  readonly #sliceMs: number;
  #slices: Slice[] = [];

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
  }

  count(succeeded: boolean, nowMs: number): void {
    const slice = this.#current(nowMs);
    if (succeeded) slice.succeeded += 1;
    else slice.failed += 1;
  }

  /** Returns the sums of the slices that are still in the window. */
  totals(nowMs: number): { readonly calls: number; readonly failed: number } {
    let [calls, failed] = [0, 0];
    for (const slice of this.#slices) {
      if (nowMs - slice.startedAtMs >= this.#sliceMs * SLICES) continue;
      calls += slice.succeeded + slice.failed;
      failed += slice.failed;
    }
    return { calls, failed };
  }

  #current(nowMs: number): Slice {
    const last = this.#slices.at(-1);
    if (last && nowMs - last.startedAtMs < this.#sliceMs) return last;
    const slice: Slice = { startedAtMs: nowMs, succeeded: 0, failed: 0 };
    this.#slices = [...this.#slices.slice(1 - SLICES), slice];
    return slice;
  }
}
