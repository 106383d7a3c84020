import { SeededRandom } from '../soak/seeded-random.js';

/** Random choices of one seed, in streams that do not disturb each other: a new choice in one changes nothing in the others. */
export class Streams {
  /** What happens, when and where. */
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

/** Whether something of this probability happens. */
export function chance(random: SeededRandom, probability: number): boolean {
  return probability > 0 && random.next() < probability;
}

/** A whole number, both ends included. */
export function wholeBetween(random: SeededRandom, least: number, most: number): number {
  return least + Math.floor(random.next() * (most - least + 1));
}
