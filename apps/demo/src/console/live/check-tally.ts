import type { CheckMessage } from 'nestjs-session-auth/diagnostics';
import { CHECK_KINDS, type CheckKind, type Waits } from '../messages.js';

/** The most durations of one kind that are kept for the median. Counts have no limit. */
const MAX_WAITS = 2_000;

/** Counts checks by kind, and keeps their durations. */
export class CheckTally {
  readonly checks: Record<CheckKind, number> = { cached: 0, joined: 0, called: 0, refused: 0, unavailable: 0 };
  readonly #waits = new Map<CheckKind, number[]>();

  add(message: CheckMessage): void {
    const kind = kindOf(message);
    this.checks[kind] += 1;
    const waits = this.#waits.get(kind) ?? [];
    if (waits.length < MAX_WAITS) waits.push(message.durationMs);
    this.#waits.set(kind, waits);
  }

  /** Returns the durations of each kind that has a check. */
  summarize(): Partial<Record<CheckKind, Waits>> {
    return Object.fromEntries(CHECK_KINDS.flatMap((kind) => this.#summaryOf(kind)));
  }

  #summaryOf(kind: CheckKind): [CheckKind, Waits][] {
    const waits = this.#waits.get(kind)?.sort((one, other) => one - other);
    const medianMs = waits?.[Math.floor(waits.length / 2)];
    const slowestMs = waits?.at(-1);
    return medianMs === undefined || slowestMs === undefined ? [] : [[kind, { medianMs, slowestMs }]];
  }
}

function kindOf({ outcome, source, joined }: CheckMessage): CheckKind {
  if (outcome === 'unavailable') return 'unavailable';
  if (outcome !== 'authenticated') return 'refused';
  if (source === 'cache') return 'cached';
  return joined ? 'joined' : 'called';
}
