import { type MarkEvent, type MarkKind, type Marks } from '../../src/console/messages.js';
import { type Geometry } from './geometry.js';
import { Mark } from './mark.js';
import { Moves } from './moves.js';
import { noCounts, type Counts } from './counts.js';

/**
 * Marks that are drawn one by one. Further requests are drawn in bundles, and those beyond the bundles are
 * only counted.
 */
export const MARKS_MAX = 2_000;
const BUNDLES_MAX = 500;
const BUNDLE = 50;
/** Requests without a mark whose outcome is awaited. */
const CROWDED_MAX = 20_000;
/**
 * After this time, an event was missed if a request is not settled, and a browser that draws too slowly if it
 * is: no check of the demo takes as long.
 */
const MAX_AGE_MS = 20_000;

type ByKind = Partial<Record<MarkKind, number>>;

/**
 * The requests in the picture. Their outcomes are those that the guard reported; only their pace is slower,
 * to be visible.
 */
export class Traffic {
  readonly marks = new Map<number, Mark>();
  readonly #counts: Record<keyof Counts, number>;
  readonly #moves: Moves;
  readonly #crowded = new Set<number>();
  #bundles = 0;

  constructor(geometry: Geometry, isStill: boolean, counts: Counts = noCounts()) {
    this.#counts = { ...counts };
    this.#moves = new Moves(geometry, isStill, this.marks, (kind, weight) => (this.#counts[kind] += weight));
  }

  /** The counts as they are now. */
  get counts(): Counts {
    return { ...this.#counts };
  }

  /** Removes all marks, and sets all counts to zero. */
  reset(): void {
    for (const mark of this.marks.values()) this.#remove(mark);
    this.#crowded.clear();
    Object.assign(this.#counts, noCounts());
  }

  /** Applies the events of a batch. */
  apply({ events, more }: Marks, now: number): void {
    const crowd: ByKind = {};
    for (const event of events) this.#applyEvent(event, now, crowd);
    this.#bundleAll(crowd, now);
    for (const count of Object.values(more)) this.#counts.requests += count;
    this.#counts.calls += more.asked ?? 0;
    this.#bundleAll(more, now);
  }

  /** Moves every mark on. */
  advance(now: number): void {
    for (const mark of this.marks.values()) {
      mark.advance(now);
      if (now - mark.bornAt > MAX_AGE_MS) this.#moves.end(mark);
      else if (mark.hasArrived(now)) this.#moves.next(mark, now);
      if (mark.stage === 'gone') this.#remove(mark);
    }
  }

  #applyEvent([id, event, detail]: MarkEvent, now: number, crowd: ByKind): void {
    const mark = this.marks.get(id);
    if (event === 'in') this.#enter(id, detail, now);
    else if (event === 'call') {
      this.#counts.calls += 1;
      if (mark) mark.hasCall = true;
    } else if (mark) {
      mark.kind = event;
      mark.joinedTo = detail;
    } else if (this.#crowded.delete(id)) crowd[event] = (crowd[event] ?? 0) + 1;
  }

  #enter(id: number, lane: 'known' | 'strangers', now: number): void {
    this.#counts.requests += 1;
    if (this.marks.size < MARKS_MAX) this.#add(new Mark(id, lane, 1, this.#moves.start(), now), now);
    else if (this.#crowded.size < CROWDED_MAX) this.#crowded.add(id);
  }

  #bundleAll(crowd: Readonly<ByKind>, now: number): void {
    for (const [kind, count] of Object.entries(crowd) as [MarkKind, number][]) {
      for (let left = count; left > 0; left -= BUNDLE) this.#bundle(kind, Math.min(BUNDLE, left), now);
    }
  }

  #bundle(kind: MarkKind, weight: number, now: number): void {
    if (this.marks.size >= MARKS_MAX + BUNDLES_MAX) {
      this.#counts[kind] += weight;
      return;
    }
    this.#bundles -= 1;
    const mark = new Mark(this.#bundles, 'known', weight, this.#moves.start(), now);
    mark.kind = kind;
    mark.hasCall = kind === 'asked' || kind === 'unavailable';
    this.#add(mark, now);
  }

  #add(mark: Mark, now: number): void {
    this.marks.set(mark.id, mark);
    this.#moves.enter(mark, now);
  }

  #remove(mark: Mark): void {
    this.#moves.leaveCrowd(mark);
    this.marks.delete(mark.id);
  }
}
