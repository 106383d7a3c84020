import { nowMs, type Span } from './clock.js';

const TICK_MS = 10;
/** Milliseconds that a timer may be late on an idle machine. */
const USUAL_DELAY_MS = 15;

/** Records the spans in which this process had no processor. */
export class StallLog {
  #lastMs = nowMs();
  readonly #stalls: Span[] = [];

  constructor() {
    setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Returns the stalls since the last call. */
  take(): Span[] {
    this.#tick();
    return this.#stalls.splice(0);
  }

  #tick(): void {
    const now = nowMs();
    if (now - this.#lastMs > TICK_MS + USUAL_DELAY_MS) this.#stalls.push({ fromMs: this.#lastMs, toMs: now });
    this.#lastMs = now;
  }
}
