import { CHECK_KINDS, type CheckKind, type LiveReport } from '../../src/console/messages.js';
import { count, duration } from '../text.js';
import { KIND_LOOKS } from './kinds.js';

/** The checks of the last minute in words, for those who do not see the chart. */
export function sayChecks(reports: readonly LiveReport[]): string {
  const sums = CHECK_KINDS.map((kind) => ({ kind, sum: reports.reduce((total, { checks }) => total + checks[kind], 0) }));
  const said = sums.filter(({ sum }) => sum > 0).map(({ kind, sum }) => `${label(kind)} ${count(sum)}`);
  return `Checks in the last minute: ${said.join(', ') || 'none'}.`;
}

/** The waits of the latest checks in words. */
export function sayWaits(reports: readonly LiveReport[]): string {
  const said = CHECK_KINDS.flatMap((kind) => {
    const waits = reports.findLast((report) => report.waits[kind])?.waits[kind];
    return waits ? [`${label(kind)} ${duration(waits.medianMs)}, slowest ${duration(waits.slowestMs)}`] : [];
  });
  return `Median wait of the latest checks: ${said.join('; ') || 'none yet'}.`;
}

function label(kind: CheckKind): string {
  return KIND_LOOKS[kind].label.toLowerCase();
}
