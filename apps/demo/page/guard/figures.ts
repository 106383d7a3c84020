import { CHECK_KINDS, type CheckKind, type LiveReport } from '../../src/console/messages.js';
import { count, duration } from '../text.js';
import { KIND_LOOKS } from './kinds.js';

/** Describes the checks of the last minute, for screen readers. */
export function describeChecks(reports: readonly LiveReport[]): string {
  const sums = CHECK_KINDS.map((kind) => ({ kind, sum: reports.reduce((total, { checks }) => total + checks[kind], 0) }));
  const parts = sums.filter(({ sum }) => sum > 0).map(({ kind, sum }) => `${label(kind)} ${count(sum)}`);
  return `Checks in the last minute: ${parts.join(', ') || 'none'}.`;
}

/** Describes the durations of the latest checks, for screen readers. */
export function describeWaits(reports: readonly LiveReport[]): string {
  const parts = CHECK_KINDS.flatMap((kind) => {
    const waits = reports.findLast((report) => report.waits[kind])?.waits[kind];
    return waits ? [`${label(kind)} ${duration(waits.medianMs)}, slowest ${duration(waits.slowestMs)}`] : [];
  });
  return `Median duration of the latest checks: ${parts.join('; ') || 'none yet'}.`;
}

function label(kind: CheckKind): string {
  return KIND_LOOKS[kind].label.toLowerCase();
}
