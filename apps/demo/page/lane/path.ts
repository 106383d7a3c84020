import { type Point } from './geometry.js';

/** A way through some points, in straight lines. */
export class Path {
  readonly #points: readonly Point[];
  readonly #lengths: readonly number[];
  readonly #length: number;

  constructor(points: readonly Point[]) {
    this.#points = points;
    this.#lengths = points.slice(1).map(({ x, y }, index) => Math.hypot(x - (points[index]?.x ?? x), y - (points[index]?.y ?? y)));
    this.#length = this.#lengths.reduce((sum, length) => sum + length, 0);
  }

  /** Returns the point at a part of the way, 0 to 1. */
  at(part: number): Point {
    let left = part * this.#length;
    for (const [index, length] of this.#lengths.entries()) {
      if (left <= length) return between(this.#points[index], this.#points[index + 1], length === 0 ? 1 : left / length);
      left -= length;
    }
    return this.#points.at(-1) ?? { x: 0, y: 0 };
  }
}

function between(from: Point | undefined, to: Point | undefined, part: number): Point {
  if (!from || !to) return { x: 0, y: 0 };
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
