import { type Observable, Subject } from 'rxjs';
import { MARK_EVENTS_MAX, MARKS_PER_SECOND, type MarkEvent, type MarkKind, type Marks } from '../messages.js';
import { type TracedRequest } from './traced-request.js';

/**
 * Emits the events of requests, in batches. A batch contains a limited number of requests, and only the
 * counts of further ones.
 */
export class MarkFeed {
  readonly #batches = new Subject<Marks>();
  readonly #shown = new Set<number>();
  #events: MarkEvent[] = [];
  #more: Partial<Record<MarkKind, number>> = {};
  #timer: NodeJS.Timeout | undefined;

  get batches(): Observable<Marks> {
    return this.#batches;
  }

  entered({ id, lane }: TracedRequest): void {
    if (!this.#batches.observed || this.#events.length >= MARK_EVENTS_MAX) return;
    this.#shown.add(id);
    this.#add([id, 'in', lane]);
  }

  called({ id }: TracedRequest): void {
    if (this.#shown.has(id)) this.#add([id, 'call']);
  }

  settled({ id, kind, joinedTo }: TracedRequest): void {
    if (this.#shown.delete(id)) {
      this.#add(joinedTo === undefined ? [id, kind] : [id, kind, joinedTo]);
    } else if (this.#batches.observed) {
      this.#more[kind] = (this.#more[kind] ?? 0) + 1;
      this.#schedule();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#batches.complete();
  }

  #add(event: MarkEvent): void {
    this.#events.push(event);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#emit(), 1_000 / MARKS_PER_SECOND).unref();
  }

  #emit(): void {
    this.#timer = undefined;
    this.#batches.next({ events: this.#events, more: this.#more });
    this.#events = [];
    this.#more = {};
  }
}
