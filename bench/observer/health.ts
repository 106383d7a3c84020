import { overlap, type Span } from './clock.js';
import type { LinkEvent } from './instance.process.js';
import type { Fault, Journal } from './journal.js';
import { DRAIN_MS } from './settings.js';

/** When an instance was not connected with a healthy Redis, by what was done to it and by what it noticed. */
export class Health {
  readonly #troubles: readonly (readonly Span[])[];
  readonly #frozen: readonly (readonly Span[])[];

  constructor({ links, faults }: Pick<Journal, 'links' | 'faults'>) {
    this.#troubles = links.map((events, instance) => {
      const own = faults.filter(({ instances }) => instances.includes(instance));
      return [...own.map((fault) => troubleOf(fault, events)), ...disconnected(events)];
    });
    this.#frozen = links.map((_events, instance) =>
      faults.filter(({ instances, freezes }) => freezes && instances.includes(instance)).map(({ fromMs, toMs }) => ({ fromMs, toMs })),
    );
  }

  /** Whether an instance was connected, and nothing wrong, all this time. */
  isGood(instance: number, span: Span): boolean {
    return !this.#troubles[instance]?.some((trouble) => overlap(trouble, span));
  }

  /** Whether an instance stood still at some moment of this time. */
  isFrozen(instance: number, span: Span): boolean {
    return this.#frozen[instance]?.some((frozen) => overlap(frozen, span)) === true;
  }
}

/** A connection that a fault broke has to be made anew; one that it did not break has to deliver what was held up. */
function troubleOf({ fromMs, toMs, breaks }: Fault, events: readonly LinkEvent[]): Span {
  const next = (what: LinkEvent['what']): number => events.find((event) => event.what === what && event.atMs >= toMs)?.atMs ?? Infinity;
  if (breaks === 'none') return { fromMs, toMs: toMs + DRAIN_MS };
  return { fromMs, toMs: Math.max(next('subscribed'), breaks === 'all' ? next('ready') : 0) };
}

function disconnected(events: readonly LinkEvent[]): Span[] {
  return [...between(events, 'closed', 'ready'), ...between(events, 'interrupted', 'subscribed')];
}

/** From each event of one kind to the next of another; at first too. */
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
