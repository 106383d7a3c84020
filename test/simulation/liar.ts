import type { StoreEntry } from '../../libs/session-auth/src/contract/session-store.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { chance } from './random.js';
import type { SimulatedStore } from './store.js';

/** Faults of a lying store. */
export interface Lies {
  /** Part of the replies that are wrong. */
  readonly part: number;
  /** Extends remaining lifetimes, and returns wrong times. */
  readonly aboutTime: boolean;
  /** Invents or hides revocations, and inverts results. */
  readonly aboutState: boolean;
}

/** A lying store: it has read everything, can open nothing, and returns arbitrary answers. */
export class Liar {
  readonly #store: SimulatedStore;
  readonly #random: SeededRandom;
  readonly #lies: Lies;

  constructor(store: SimulatedStore, random: SeededRandom, lies: Lies) {
    this.#store = store;
    this.#random = random;
    this.#lies = lies;
  }

  /** Returns a wrong entry: an older one, one of another key, or none. */
  entry(key: string, honest: StoreEntry): StoreEntry {
    if (!this.#lies.aboutState && !this.#lies.aboutTime) return honest;
    if (!chance(this.#random, this.#lies.part)) return honest;
    const { storeTimeMs } = honest;
    const lie = Math.floor(this.#random.next() * 5);
    if (this.#lies.aboutTime && lie === 0)
      return { ...honest, storeTimeMs: storeTimeMs + this.#random.between(-1e6, 1e6) };
    if (lie === 1) return { kind: 'none', storeTimeMs };
    const value = lie === 2 ? this.#valueOfAnother(key) : this.#random.pick(this.#store.past.get(key) ?? []);
    if (!value) return honest;
    const remainingMs = this.#lies.aboutTime ? this.#random.between(1, 1e6) : this.#remainingMs(honest);
    return { kind: 'value', value, remainingMs, storeTimeMs };
  }

  revocations(honest: readonly (number | undefined)[]): readonly (number | undefined)[] {
    if (!this.#lies.aboutState || !chance(this.#random, this.#lies.part)) return honest;
    return this.#random.pick([
      [],
      honest.map(() => undefined),
      honest.map(() => NaN),
      honest.map(() => this.#store.nowMs),
    ]);
  }

  /** Returns whether to invert a Boolean result: `result !== liar.isContrary()`. */
  isContrary(): boolean {
    return this.#lies.aboutState && chance(this.#random, this.#lies.part);
  }

  /** Removes one key, or all. */
  lose(): void {
    this.#store.lose(chance(this.#random, 0.8) ? this.#random.pick(this.#store.keys) : undefined);
  }

  #remainingMs(honest: StoreEntry): number {
    return honest.kind === 'value' ? honest.remainingMs : 1;
  }

  #valueOfAnother(key: string): Uint8Array | undefined {
    const others = [...this.#store.past].filter(([other]) => other !== key);
    const [, values] = this.#random.pick(others) ?? [];
    return values && this.#random.pick(values);
  }
}
