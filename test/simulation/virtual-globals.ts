import type { SeededRandom } from '../support/seeded-random.js';
import type { Host, WorldEvent } from './host.js';

/** The virtual clocks and timers, and the host on which they run. */
export interface Clocks {
  /** The host whose code runs. */
  readonly host: Host | undefined;
  readonly libraryRandom: SeededRandom;
  monotonicMs(): number;
  wallMs(): number;
  after(delayMs: number, run: () => void, host?: Host): WorldEvent;
}

let clocks: Clocks | undefined;

/**
 * Called when a timer fires on which `unref` was not called, and which would therefore keep the process
 * alive.
 */
let onReferencedTimer: (() => void) | undefined;

/** Sets the clocks and timers of the library. */
export function useClocks(next: Clocks): void {
  clocks = next;
}

export function watchTimers(listener: () => void): void {
  onReferencedTimer = listener;
}

/**
 * Resolves when all work that needs no timer is done. Must be called in a microtask: Node.js processes its
 * tick queue as soon as the microtask queue is empty. The library itself uses no ticks.
 */
export function drained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Rounding of sums of times. */
const EARLY_MS = 1e-3;

class VirtualTimer {
  readonly #clocks: Clocks;
  readonly #host;
  readonly #run: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  #event: WorldEvent | undefined;
  #isReferenced = true;
  #dueMs = 0;

  constructor(run: () => void, ms: number, repeats = false) {
    const [current, host] = [here(), here().host];
    if (!host) throw new Error('A timer was set outside of an event of a host');
    this.#clocks = current;
    this.#host = host;
    this.#run = run;
    this.#ms = ms;
    this.#repeats = repeats;
    this.#start();
  }

  unref(): this {
    this.#isReferenced = false;
    return this;
  }

  clear(): void {
    if (!this.#event) return;
    this.#event.run = undefined;
    this.#event = undefined;
    this.#host.timers -= 1;
  }

  #start(): void {
    this.#host.timers += 1;
    this.#dueMs = this.#clocks.monotonicMs() + this.#ms;
    this.#wait(this.#ms);
  }

  #wait(ms: number): void {
    this.#event = this.#clocks.after(ms, () => this.#fire(), this.#host);
  }

  #fire(): void {
    // The monotonic clock has stood.
    const leftMs = this.#dueMs - this.#clocks.monotonicMs();
    if (leftMs > EARLY_MS) {
      this.#wait(leftMs);
      return;
    }
    this.#event = undefined;
    this.#host.timers -= 1;
    if (this.#isReferenced) onReferencedTimer?.();
    if (this.#repeats) this.#start();
    this.#run();
  }
}

const LONGEST_MS = 2 ** 31 - 1;

/** Replaces the clocks and timers of Node.js permanently. */
export function installVirtualGlobals(): void {
  const timerOf = (
    run: (...args: unknown[]) => void,
    ms: unknown,
    args: unknown[],
    repeats = false,
  ): VirtualTimer => new VirtualTimer(() => run(...args), delayOf(ms), repeats);
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.clear();
  };
  Object.assign(globalThis, {
    // The longest one keeps a process alive while a caller waits. The instances of a history are one process,
    // and calls of one that is killed never settle.
    setTimeout: (run: () => void, ms?: unknown, ...args: unknown[]) =>
      ms === LONGEST_MS ? {} : timerOf(run, ms, args),
    setInterval: (run: () => void, ms?: unknown, ...args: unknown[]) => timerOf(run, ms, args, true),
    setImmediate: (run: () => void, ...args: unknown[]) => timerOf(run, 0, args).unref(),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  });
  performance.now = () => here().monotonicMs();
  Date.now = () => here().wallMs();
  Math.random = () => here().libraryRandom.next();
}

/** Returns the delay as Node.js does: a whole number of milliseconds, at least one. */
function delayOf(ms: unknown): number {
  const delay = Math.trunc(Number(ms));
  return delay >= 1 && delay <= 2_147_483_647 ? delay : 1;
}

function here(): Clocks {
  if (!clocks) throw new Error('The library runs outside of a history');
  return clocks;
}
