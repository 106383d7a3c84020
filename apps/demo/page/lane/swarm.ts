import { type Point } from './geometry.js';

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const SPACING = 3.8;

/** Places around a point, taken from the middle outwards: a crowd is as large as it is. */
export class Swarm {
  readonly #taken = new Set<number>();
  /** All places before it are taken. */
  #next = 0;

  /** Takes the free place next to the middle. */
  take(): number {
    while (this.#taken.has(this.#next)) this.#next += 1;
    this.#taken.add(this.#next);
    return this.#next;
  }

  free(place: number): void {
    this.#taken.delete(place);
    this.#next = Math.min(this.#next, place);
  }
}

/** Returns where a place is, at most `radius` from the middle. */
export function placeOf(place: number, { x, y }: Point, radius: number): Point {
  const distance = Math.min(SPACING * Math.sqrt(place), radius - (place % 5));
  const angle = place * GOLDEN_ANGLE;
  return { x: x + Math.cos(angle) * distance * 1.2, y: y + Math.sin(angle) * distance * 0.86 };
}
