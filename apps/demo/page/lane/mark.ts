import { type MarkKind } from '../../src/console/messages.js';
import { type Point } from './geometry.js';
import { Path } from './path.js';

/**
 * Where a mark is on its way: to the cache, waiting for a call, at the service, coming back, leaving, or
 * gone.
 */
export type Stage = 'coming' | 'waiting' | 'asking' | 'returning' | 'leaving' | 'gone';

/** A request in the picture, or a bundle of requests if there are too many. */
export class Mark {
  stage: Stage = 'coming';
  /** The outcome of the request, after the guard reported it. */
  kind: MarkKind | undefined;
  /** The kind in whose colour the mark is drawn. */
  shown: MarkKind | undefined;
  hasCall = false;
  joinedTo: number | undefined;
  /** The place in the crowd that waits. */
  place: number | undefined;
  x: number;
  y: number;
  #path: Path | undefined;
  #startAt: number;
  #endAt: number;

  constructor(
    readonly id: number,
    readonly lane: 'known' | 'strangers',
    /** The number of requests. */
    readonly weight: number,
    at: Point,
    readonly bornAt: number,
  ) {
    this.x = at.x;
    this.y = at.y;
    this.#startAt = bornAt;
    this.#endAt = bornAt;
  }

  /** Sets out from where it is through some points. */
  move(points: readonly Point[], now: number, ms: number, delay = 0): void {
    this.#path = new Path([{ x: this.x, y: this.y }, ...points]);
    this.#startAt = now + delay;
    this.#endAt = now + delay + ms;
  }

  /** Moves to where it is now. */
  advance(now: number): void {
    if (!this.#path || now <= this.#startAt) return;
    const isThere = now >= this.#endAt;
    this.#path.place(this, isThere ? 1 : ease((now - this.#startAt) / (this.#endAt - this.#startAt)));
    if (isThere) this.#path = undefined;
  }

  hasArrived(now: number): boolean {
    return now >= this.#endAt;
  }

  /** How much of a mark that leaves is still to be seen: 1 to 0. */
  opacity(now: number): number {
    if (this.stage !== 'leaving') return 1;
    return Math.min(1, Math.max(0, ((this.#endAt - now) / (this.#endAt - this.#startAt || 1)) * 2.5));
  }
}

/** Slow at both ends. */
function ease(part: number): number {
  return part * part * (3 - 2 * part);
}
