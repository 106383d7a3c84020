import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from './application.js';
import type { SeededRandom } from './seeded-random.js';
import type { Visitors } from './visitors.js';

const MOST_AT_ONCE = 400;

/** Sends requests at a steady rate to all applications, regardless of their replies. */
export class Load {
  readonly #visitors: Visitors;
  readonly #applications: readonly Application[];
  readonly #random: SeededRandom;
  readonly #perSecond: number;
  readonly #running = new Set<Promise<void>>();
  #active = false;
  #loop = Promise.resolve();

  constructor(
    visitors: Visitors,
    applications: readonly Application[],
    random: SeededRandom,
    perSecond: number,
  ) {
    this.#visitors = visitors;
    this.#applications = applications;
    this.#random = random;
    this.#perSecond = perSecond;
  }

  start(): void {
    this.#active = true;
    this.#loop = this.#run();
  }

  /** Stops sending, and waits for the requests in flight. */
  async pause(): Promise<void> {
    this.#active = false;
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    let due = 0;
    let last = performance.now();
    while (this.#active) {
      await delay(5);
      const now = performance.now();
      // Requests that a stall of this process delayed are not sent as a burst.
      due = Math.min(due + ((now - last) / 1_000) * this.#perSecond, 20);
      last = now;
      for (; due >= 1; due -= 1) this.#visit();
    }
  }

  #visit(): void {
    const application = this.#random.pick(this.#applications);
    if (!application || this.#running.size >= MOST_AT_ONCE) return;
    const visit = this.#visitors.visit(application).finally(() => this.#running.delete(visit));
    this.#running.add(visit);
  }
}
