import { type Point } from './geometry.js';

/** A way through some points, in straight lines. */
export class Path {
  readonly #points: readonly Point[];
  readonly #lengths: readonly number[];
  readonly #length: number;

  constructor(points: readonly Point[]) {
    this.#points = points;
    this.#lengths = points
      .slice(1)
      .map(({ x, y }, index) => Math.hypot(x - (points[index]?.x ?? x), y - (points[index]?.y ?? y)));
    this.#length = this.#lengths.reduce((sum, length) => sum + length, 0);
  }

  /**
   * Moves something to the point at a part of the way, 0 to 1. It allocates nothing: it runs for each mark in
   * each frame.
   */
  place(moved: { x: number; y: number }, part: number): void {
    let left = part * this.#length;
    let line = 0;
    while (line < this.#lengths.length - 1 && left > (this.#lengths[line] ?? 0))
      left -= this.#lengths[line++] ?? 0;
    const from = this.#points[line];
    const to = this.#points[line + 1] ?? from;
    if (!from || !to) return;
    const length = this.#lengths[line] ?? 0;
    const share = length === 0 ? 1 : Math.min(1, left / length);
    moved.x = from.x + (to.x - from.x) * share;
    moved.y = from.y + (to.y - from.y) * share;
  }
}
