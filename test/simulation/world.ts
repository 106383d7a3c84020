import { type SeededRandom } from '../support/seeded-random.js';
import { EventQueue } from './event-queue.js';
import type { Host, WorldEvent } from './host.js';
import { drained, useClocks } from './virtual-globals.js';

/** Date of the virtual time 0, for wall clocks. */
export const EPOCH_MS = 1_700_000_000_000;

/**
 * Virtual time, and a queue of events that run one after the other. Events of the same time run in random
 * order.
 */
export class World {
  readonly #queue = new EventQueue<WorldEvent>();
  readonly #random: SeededRandom;
  readonly #lines: string[] | undefined;
  /** Virtual time, in milliseconds. Hosts cannot read it. */
  nowMs = 0;
  /** Number of events that have run. */
  steps = 0;
  /** The host whose event runs. */
  host: Host | undefined;
  /** Source of `Math.random` in the library. */
  readonly libraryRandom: SeededRandom;
  #sequence = 0;

  constructor(random: SeededRandom, libraryRandom: SeededRandom, isTraced: boolean) {
    this.#random = random;
    this.libraryRandom = libraryRandom;
    this.#lines = isTraced ? [] : undefined;
  }

  /** Returns the next number of a global sequence, which also orders events of the same time. */
  nextSequence(): number {
    return (this.#sequence += 1);
  }

  /** Returns the monotonic clock of the host whose event runs, in milliseconds. */
  monotonicMs(): number {
    return this.nowMs - this.#currentHost.startedAtMs;
  }

  /** Returns its wall clock, in milliseconds. */
  wallMs(): number {
    return Math.floor(EPOCH_MS + this.nowMs + this.#currentHost.wallOffsetMs);
  }

  /** Schedules an event. An event of a host runs only while the host is alive. */
  after(delayMs: number, run: () => void, host?: Host): WorldEvent {
    const event = { atMs: this.nowMs + delayMs, tie: this.#random.next(), host, run };
    this.#queue.push(event);
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

  /**
   * Runs events until a time, or until none is left. All work that an event starts without a timer is done
   * before the next event.
   */
  async run(untilMs = Infinity): Promise<void> {
    useClocks(this);
    for (let next = this.#queue.first; next && next.atMs <= untilMs; next = this.#queue.first) {
      this.#queue.pop();
      if (!next.run) continue;
      if (next.host && !this.#isReady(next, next.host)) continue;
      this.nowMs = next.atMs;
      this.steps += 1;
      await this.#runEvent(next.run, next.host);
    }
    if (untilMs !== Infinity) this.nowMs = untilMs;
  }

  get pending(): number {
    return this.#queue.events.filter(({ run, host }) => run && host?.isAlive !== false).length;
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
    this.#queue.push(event);
    return false;
  }

  async #runEvent(run: () => void, host: Host | undefined): Promise<void> {
    this.host = host;
    run();
    // Events between hosts run no code of the library.
    if (host) await drained();
    this.host = undefined;
  }
}
