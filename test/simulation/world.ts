import { type SeededRandom } from '../soak/seeded-random.js';
import type { Host, WorldEvent } from './host.js';
import { drained, useClocks } from './virtual-globals.js';

/** The true time at 0, so that wall clocks show a date. */
export const EPOCH_MS = 1_700_000_000_000;

/** Virtual time and all that happens in it, one event after the other. Events of the same time come in random order. */
export class World {
  readonly #events: WorldEvent[] = [];
  readonly #random: SeededRandom;
  readonly #lines: string[] | undefined;
  /** True time, in milliseconds. No host can read it. */
  nowMs = 0;
  /** Events that were run. */
  steps = 0;
  /** Whose event runs. */
  host: Host | undefined;
  /** `Math.random` of the library. */
  readonly libraryRandom: SeededRandom;
  #sequence = 0;

  constructor(random: SeededRandom, libraryRandom: SeededRandom, isTraced: boolean) {
    this.#random = random;
    this.libraryRandom = libraryRandom;
    this.#lines = isTraced ? [] : undefined;
  }

  /** The next number of a sequence that orders everything, also what happens at the same time. */
  nextSequence(): number {
    return (this.#sequence += 1);
  }

  /** Milliseconds of the monotonic clock of the host whose event runs. */
  monotonicMs(): number {
    return this.nowMs - this.#currentHost.startedAtMs;
  }

  /** Milliseconds of its wall clock. */
  wallMs(): number {
    return Math.floor(EPOCH_MS + this.nowMs + this.#currentHost.wallOffsetMs);
  }

  /** Lets something happen later; on a host only while that lives. */
  after(delayMs: number, run: () => void, host?: Host): WorldEvent {
    const event = { atMs: this.nowMs + delayMs, tie: this.#random.next(), host, run };
    this.#push(event);
    return event;
  }

  /** Runs code as a host, outside of an event. */
  as<Result>(host: Host, run: () => Result): Result {
    const before = this.host;
    this.host = host;
    try {
      return run();
    } finally {
      this.host = before;
    }
  }

  /** Runs what happens until a time, or until nothing happens any more. What an event sets off without a timer is done before the next event. */
  async run(untilMs = Infinity): Promise<void> {
    useClocks(this);
    for (let next = this.#events[0]; next && next.atMs <= untilMs; next = this.#events[0]) {
      this.#pop();
      if (!next.run) continue;
      if (next.host && !this.#isReady(next, next.host)) continue;
      this.nowMs = next.atMs;
      this.steps += 1;
      await this.#runEvent(next.run, next.host);
    }
    if (untilMs !== Infinity) this.nowMs = untilMs;
  }

  /** How many events are still to come. */
  get pending(): number {
    return this.#events.filter(({ run, host }) => run && host?.isAlive !== false).length;
  }

  trace(line: () => string): void {
    this.#lines?.push(`${this.nowMs.toFixed(3).padStart(10)} ${line()}`);
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  get #currentHost(): Host {
    if (!this.host) throw new Error('The library runs outside of an event of a host');
    return this.host;
  }

  #isReady(event: WorldEvent, host: Host): boolean {
    if (!host.isAlive) return false;
    if (host.blockedUntilMs <= event.atMs) return true;
    event.atMs = host.blockedUntilMs;
    this.#push(event);
    return false;
  }

  async #runEvent(run: () => void, host: Host | undefined): Promise<void> {
    this.host = host;
    run();
    // Nothing of the library runs in what happens between hosts.
    if (host) await drained();
    this.host = undefined;
  }

  #push(event: WorldEvent): void {
    const events = this.#events;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = events[parent];
      if (!other || !isBefore(event, other)) break;
      events[at] = other;
      at = parent;
    }
    events[at] = event;
  }

  #pop(): void {
    const events = this.#events;
    const last = events.pop();
    if (!last || events.length === 0) return;
    let at = 0;
    for (;;) {
      const child = firstOf(events, 2 * at + 1);
      const other = events[child];
      if (!other || !isBefore(other, last)) break;
      events[at] = other;
      at = child;
    }
    events[at] = last;
  }
}

function firstOf(events: readonly WorldEvent[], left: number): number {
  const [one, other] = [events[left], events[left + 1]];
  return one && other && isBefore(other, one) ? left + 1 : left;
}

function isBefore(one: WorldEvent, other: WorldEvent): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.tie < other.tie);
}
