import { overlap, type Span } from './clock.js';
import type { LinkEvent } from './instance.process.js';
import type { Fault, Journal } from './journal.js';
import { DRAIN_MS } from './settings.js';

/**
 * The spans in which an instance was not connected to a healthy Redis, by injected faults and by its own
 * events.
 */
export class Health {
  readonly #troubles: readonly (readonly Span[])[];
  readonly #frozen: readonly (readonly Span[])[];

  constructor({ links, faults }: Pick<Journal, 'links' | 'faults'>) {
    this.#troubles = links.map((events, instance) => {
      const own = faults.filter(({ instances }) => instances.includes(instance));
      return [...own.map((fault) => troubleOf(fault, events)), ...disconnected(events)];
    });
    this.#frozen = links.map((_events, instance) =>
      faults
        .filter(({ instances, freezes }) => freezes && instances.includes(instance))
        .map(({ fromMs, toMs }) => ({ fromMs, toMs })),
    );
  }

  /** Returns whether an instance was connected and without faults throughout a span. */
  isGood(instance: number, span: Span): boolean {
    return !this.#troubles[instance]?.some((trouble) => overlap(trouble, span));
  }

  /** Returns whether an instance was frozen at any time of a span. */
  isFrozen(instance: number, span: Span): boolean {
    return this.#frozen[instance]?.some((frozen) => overlap(frozen, span)) === true;
  }
}

/**
 * Extends a fault by its recovery: a broken connection must be re-established; an unbroken one must deliver
 * delayed data.
 */
function troubleOf({ fromMs, toMs, breaks }: Fault, events: readonly LinkEvent[]): Span {
  const next = (what: LinkEvent['what']): number =>
    events.find((event) => event.what === what && event.atMs >= toMs)?.atMs ?? Infinity;
  if (breaks === 'none') return { fromMs, toMs: toMs + DRAIN_MS };
  return { fromMs, toMs: Math.max(next('subscribed'), breaks === 'all' ? next('ready') : 0) };
}

function disconnected(events: readonly LinkEvent[]): Span[] {
  return [...between(events, 'closed', 'ready'), ...between(events, 'interrupted', 'subscribed')];
}

/** Returns the spans from each event of one kind to the next of another, and from the start to the first. */
function between(events: readonly LinkEvent[], from: LinkEvent['what'], to: LinkEvent['what']): Span[] {
  const spans: Span[] = [];
  let fromMs: number | undefined = -Infinity;
  for (const { what, atMs } of events) {
    if (what === from) fromMs ??= atMs;
    if (what !== to || fromMs === undefined) continue;
    spans.push({ fromMs, toMs: atMs });
    fromMs = undefined;
  }
  if (fromMs !== undefined) spans.push({ fromMs, toMs: Infinity });
  return spans;
}
