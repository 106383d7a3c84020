import { type MarkEvent, type MarkKind, type Marks } from '../../src/console/messages.js';
import { type Geometry } from './geometry.js';
import { Mark } from './mark.js';
import { Moves } from './moves.js';
import { noCounts, type Counts } from './counts.js';

/** Marks that are drawn one by one. Further requests are drawn in bundles. */
export const MARKS_MAX = 2_000;
const BUNDLE = 50;
/** Something was missed if a request is not settled by then: no check of the demo takes so long. */
const MAX_AGE_MS = 20_000;

/** The requests in the picture. Their outcomes are what the guard reported; only their pace is slower, to be seen. */
export class Traffic {
  readonly marks = new Map<number, Mark>();
  counts: Counts = noCounts();
  readonly #moves: Moves;
  readonly #bornAt = new Map<number, number>();
  readonly #crowded = new Set<number>();
  #bundles = 0;

  constructor(geometry: Geometry, isStill: boolean) {
    this.#moves = new Moves(geometry, isStill, this.marks, (kind, weight) => this.#count(kind, weight));
  }

  /** Removes all marks, and sets all counts to zero. */
  reset(): void {
    for (const mark of this.marks.values()) this.#remove(mark);
    this.counts = noCounts();
  }

  /** Takes over what happened. */
  apply({ events, more }: Marks, now: number): void {
    const crowd: Partial<Record<MarkKind, number>> = { ...more };
    for (const event of events) this.#applyEvent(event, now, crowd);
    for (const [kind, count] of Object.entries(crowd) as [MarkKind, number][]) this.#bundle(kind, count, now);
  }

  /** Moves every mark on. */
  advance(now: number): void {
    for (const [id, mark] of this.marks) {
      if (now - (this.#bornAt.get(id) ?? 0) > MAX_AGE_MS) mark.stage = 'gone';
      else if (mark.hasArrived(now)) this.#moves.next(mark, now);
      if (mark.stage === 'gone') this.#remove(mark);
    }
  }

  #applyEvent([id, event, detail]: MarkEvent, now: number, crowd: Partial<Record<MarkKind, number>>): void {
    const mark = this.marks.get(id);
    if (event === 'in') this.#enter(id, detail, now);
    else if (event === 'call') {
      this.counts = { ...this.counts, calls: this.counts.calls + 1 };
      if (mark) mark.hasCall = true;
    } else if (mark) {
      mark.kind = event;
      mark.joinedTo = detail;
    } else if (this.#crowded.delete(id)) crowd[event] = (crowd[event] ?? 0) + 1;
  }

  #enter(id: number, lane: 'known' | 'strangers', now: number): void {
    if (this.marks.size >= MARKS_MAX) this.#crowded.add(id);
    else this.#add(new Mark(id, lane, 1, this.#moves.start(), now), now);
    this.counts = { ...this.counts, requests: this.counts.requests + 1 };
  }

  #bundle(kind: MarkKind, count: number, now: number): void {
    for (let left = count; left > 0; left -= BUNDLE) {
      this.#bundles -= 1;
      const mark = new Mark(this.#bundles, 'known', Math.min(BUNDLE, left), this.#moves.start(), now);
      mark.kind = kind;
      mark.hasCall = kind === 'asked' || kind === 'unavailable';
      this.#add(mark, now);
    }
  }

  #add(mark: Mark, now: number): void {
    this.marks.set(mark.id, mark);
    this.#bornAt.set(mark.id, now);
    this.#moves.enter(mark, now);
  }

  #remove(mark: Mark): void {
    this.#moves.leaveCrowd(mark);
    this.marks.delete(mark.id);
    this.#bornAt.delete(mark.id);
  }

  #count(kind: MarkKind, weight: number): void {
    this.counts = { ...this.counts, [kind]: this.counts[kind] + weight };
  }
}
