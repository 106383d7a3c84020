import { SeededRandom } from '../support/seeded-random.js';

/**
 * Random choices from one seed, in independent streams: an additional choice in one does not affect the
 * others.
 */
export class Streams {
  /** Which events happen, when and where. */
  readonly plan: SeededRandom;
  /** Delays, losses and the order of events. */
  readonly network: SeededRandom;
  /** `Math.random` and `randomBytes` of the library. */
  readonly library: SeededRandom;

  constructor(seed: number) {
    const [plan, network, library] = [1, 2, 3].map(
      (stream) => new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream, 0x85ebca6b)),
    );
    if (!plan || !network || !library) throw new Error('A stream is missing');
    this.plan = plan;
    this.network = network;
    this.library = library;
  }
}

/** Returns `true` with the given probability. */
export function chance(random: SeededRandom, probability: number): boolean {
  return probability > 0 && random.next() < probability;
}

/** Returns a random whole number, both ends included. */
export function wholeBetween(random: SeededRandom, least: number, most: number): number {
  return least + Math.floor(random.next() * (most - least + 1));
}
