import { BREAKER } from './settings.js';

const TICK_MS = 10;
/** What a timer may be late on a machine that is not busy. */
const USUAL_DELAY_MS = 15;
/** The shortest stall that one process tells another. */
const TOLD_MS = 20;
/** A stall that may cost a check its time, and how long failures may then keep a breaker open. */
const LONG_MS = 100;
const EFFECT_MS = BREAKER.windowMs + BREAKER.maxPauseMs;

/** The time that the processes of the soak were not given by a busy machine: what the machine does to all is not the library's fault. */
export class Stalls {
  #last = performance.now();
  #lostMs = 0;
  worstMs = 0;
  #longAt = -Infinity;
  readonly #tell: (stallMs: number) => void;

  /** `tell` learns of each stall of some length. */
  constructor(tell: (stallMs: number) => void = () => undefined) {
    this.#tell = tell;
    setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Milliseconds lost so far. */
  get lostMs(): number {
    this.#tick();
    return this.#lostMs;
  }

  /** Adds a stall of another process, on which requests wait too. */
  add(stallMs: number): void {
    this.#lostMs += stallMs;
    this.worstMs = Math.max(this.worstMs, stallMs);
    if (stallMs >= LONG_MS) this.#longAt = performance.now();
  }

  /** Whether no stall was long enough to make checks fail since then, or shortly before: failed checks open a breaker. */
  wereShortSince(at: number): boolean {
    return this.#longAt < at - EFFECT_MS;
  }

  #tick(): void {
    const now = performance.now();
    const stallMs = Math.max(0, now - this.#last - TICK_MS - USUAL_DELAY_MS);
    this.#last = now;
    this.add(stallMs);
    if (stallMs > TOLD_MS) this.#tell(stallMs);
  }
}
