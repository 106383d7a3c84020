import type { CheckMessage } from 'nestjs-session-auth/diagnostics';
import { CHECK_KINDS, type CheckKind, type Waits } from '../messages.js';

/** Waits that are kept to find the median of; the counts go on without. */
const MAX_WAITS = 2_000;

/** Counts the checks of a span of time by how they were answered. */
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

  /** How long each kind waited; nothing of a kind that there was none of. */
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
