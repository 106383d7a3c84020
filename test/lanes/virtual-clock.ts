import { setImmediate as settled } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { EventQueue } from '../simulation/event-queue.js';

interface Event {
  readonly atMs: number;
  readonly tie: number;
  run: (() => void) | undefined;
}

/** A clock that jumps from one event to the next: hours in seconds, and the same on every machine. */
export class VirtualClock {
  readonly #queue = new EventQueue<Event>();
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
    const event = { atMs: this.#nowMs + ms, tie: (this.#order += 1), run };
    this.#queue.push(event);
    return event;
  }

  /** Runs all events up to a time. Work that one starts without a timer is done before the next. */
  async runUntil(untilMs: number): Promise<void> {
    for (let next = this.#queue.first; next && next.atMs <= untilMs; next = this.#queue.first) {
      this.#queue.pop();
      if (!next.run) continue;
      this.#nowMs = next.atMs;
      next.run();
      await settled();
    }
    this.#nowMs = untilMs;
  }
}
