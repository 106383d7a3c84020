import { readFileSync } from 'node:fs';
import { BREAKER } from './settings.js';

const TICK_MS = 10;
/** The usual delay of a timer on a machine that is not busy. */
const USUAL_DELAY_MS = 15;
/** The shortest stall that one process reports to another. */
const REPORTED_MS = 20;
/**
 * Stalls of all processes within a span that may cost a check its time, and how long failures may then keep a
 * breaker open.
 */
const SPAN_MS = 250;
const LONG_MS = 150;
const EFFECT_MS = BREAKER.windowMs + BREAKER.maxPauseMs;

/** The time that a busy machine kept from the processes of the soak, which is no fault of the library. */
export class Stalls {
  #last = performance.now();
  #lastWaitedMs = waitedMs();
  #lostMs = 0;
  worstMs = 0;
  #unreportedMs = 0;
  #span = { from: performance.now(), lostMs: 0 };
  #longAt = -Infinity;
  readonly #report: (stallMs: number) => void;

  /** `report` is called with each stall of some length. */
  constructor(report: (stallMs: number) => void = () => undefined) {
    this.#report = report;
    setInterval(() => this.#tick(), TICK_MS).unref();
  }

  get lostMs(): number {
    this.#tick();
    return this.#lostMs;
  }

  /** Adds a stall of another process, on which requests wait too. */
  add(stallMs: number): void {
    const now = performance.now();
    this.#lostMs += stallMs;
    this.worstMs = Math.max(this.worstMs, stallMs);
    if (now - this.#span.from > SPAN_MS) this.#span = { from: now, lostMs: 0 };
    this.#span.lostMs += stallMs;
    if (this.#span.lostMs >= LONG_MS) this.#longAt = now;
  }

  /**
   * Whether no stall was long enough to make checks fail since then, or shortly before: failed checks open a
   * breaker.
   */
  wereShortSince(at: number): boolean {
    return this.#longAt < at - EFFECT_MS;
  }

  #tick(): void {
    const now = performance.now();
    const waited = waitedMs();
    const isKnown = waited !== undefined && this.#lastWaitedMs !== undefined;
    const stallMs = isKnown
      ? waited - (this.#lastWaitedMs ?? 0)
      : Math.max(0, now - this.#last - TICK_MS - USUAL_DELAY_MS);
    this.#last = now;
    this.#lastWaitedMs = waited;
    this.add(stallMs);
    this.#unreportedMs += stallMs;
    if (this.#unreportedMs < REPORTED_MS) return;
    this.#report(this.#unreportedMs);
    this.#unreportedMs = 0;
  }
}

/** How long this process was ready to run and had no processor, where the system says so (Linux). */
function waitedMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1_000_000;
  } catch {
    return undefined;
  }
}
