import { setImmediate as settled } from 'node:timers/promises';
import { jest } from '@jest/globals';

interface Event {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** A clock that jumps from one event to the next: hours in seconds, and the same on every machine. */
export class VirtualClock {
  readonly #events: Event[] = [];
  #nowMs = 0;
  #order = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Stands in for the timers and the monotonic clock until the mocks of the test are restored. */
  install(): this {
    const start = (run: () => void, ms = 0): unknown => {
      const event = this.after(ms, run);
      return { unref: () => event };
    };
    jest.spyOn(performance, 'now').mockImplementation(() => this.#nowMs);
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(start as typeof setTimeout);
    jest.spyOn(globalThis, 'clearTimeout').mockImplementation((event) => {
      if (event) (event as unknown as Event).run = undefined;
    });
    return this;
  }

  /** Runs something later. */
  after(ms: number, run: () => void): Event {
    const event = { atMs: this.#nowMs + ms, order: (this.#order += 1), run };
    this.#push(event);
    return event;
  }

  /** Runs all events up to a time. Work that one starts without a timer is done before the next. */
  async runUntil(untilMs: number): Promise<void> {
    for (let next = this.#events[0]; next && next.atMs <= untilMs; next = this.#events[0]) {
      this.#pop();
      if (!next.run) continue;
      this.#nowMs = next.atMs;
      next.run();
      await settled();
    }
    this.#nowMs = untilMs;
  }

  #push(event: Event): void {
    let at = this.#events.push(event) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(at, parent); parent = (at - 1) >> 1) {
      this.#swap(at, parent);
      at = parent;
    }
  }

  #pop(): void {
    const last = this.#events.pop();
    if (!last || this.#events.length === 0) return;
    this.#events[0] = last;
    for (let at = 0, child = this.#firstChild(0); this.#isBefore(child, at); child = this.#firstChild(at)) {
      this.#swap(at, child);
      at = child;
    }
  }

  #firstChild(at: number): number {
    return this.#isBefore(2 * at + 2, 2 * at + 1) ? 2 * at + 2 : 2 * at + 1;
  }

  #isBefore(one: number, other: number): boolean {
    const [first, second] = [this.#events[one], this.#events[other]];
    if (!first || !second) return false;
    return first.atMs < second.atMs || (first.atMs === second.atMs && first.order < second.order);
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#events[one], this.#events[other]];
    if (first && second) [this.#events[one], this.#events[other]] = [second, first];
  }
}
