import { type Point } from './geometry.js';

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const SPACING = 3.8;

/** Places around a point, taken from the middle outwards: a crowd is as large as it is. */
export class Swarm {
  readonly #taken = new Set<number>();

  /** Takes the free place next to the middle. */
  take(): number {
    let place = 0;
    while (this.#taken.has(place)) place += 1;
    this.#taken.add(place);
    return place;
  }

  free(place: number): void {
    this.#taken.delete(place);
  }
}

/** Returns where a place is, at most `radius` from the middle. */
export function placeOf(place: number, { x, y }: Point, radius: number): Point {
  const distance = Math.min(SPACING * Math.sqrt(place), radius - (place % 5));
  const angle = place * GOLDEN_ANGLE;
  return { x: x + Math.cos(angle) * distance * 1.2, y: y + Math.sin(angle) * distance * 0.86 };
}
