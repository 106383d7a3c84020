const TICK_MS = 10;
/** What a timer may be late on a machine that is not busy. */
const USUAL_DELAY_MS = 15;

/** The time that this process was not given by a busy machine: what the machine does to all is not the library's fault. */
export class Stalls {
  #last = performance.now();
  #lostMs = 0;
  worstMs = 0;

  constructor() {
    setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Milliseconds lost so far. */
  get lostMs(): number {
    this.#tick();
    return this.#lostMs;
  }

  #tick(): void {
    const now = performance.now();
    const stallMs = Math.max(0, now - this.#last - TICK_MS - USUAL_DELAY_MS);
    this.#last = now;
    this.#lostMs += stallMs;
    this.worstMs = Math.max(this.worstMs, stallMs);
  }
}
