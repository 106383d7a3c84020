import type uPlot from 'uplot';
import { CHECK_KINDS, type CheckKind, type LiveReport } from '../../src/console/messages.js';

const SECONDS_SHOWN = 60;
/** Zero has no logarithm. */
const SHORTEST_MS = 0.01;

/** Returns the checks per second over the last minute, stacked. The highest series is first, so that each covers the one before. */
export function stackedChecks(reports: readonly LiveReport[]): uPlot.AlignedData {
  const latest = secondOf(reports.at(-1));
  const seconds = Array.from({ length: SECONDS_SHOWN + 1 }, (_, at) => at - SECONDS_SHOWN);
  const stack = CHECK_KINDS.map(() => seconds.map(() => 0));
  for (const report of reports) {
    const column = secondOf(report) - latest + SECONDS_SHOWN;
    let height = 0;
    CHECK_KINDS.forEach((kind, level) => {
      height += report.checks[kind];
      const row = stack[level];
      if (row?.[column] !== undefined) row[column] += height;
    });
  }
  return [seconds, ...stack.reverse()];
}

/** Returns, for each kind, the slowest check of each report, then the median, as powers of ten for a logarithmic scale. */
export function waitsOfKinds(reports: readonly LiveReport[]): uPlot.AlignedData {
  const latest = reports.at(-1)?.at ?? 0;
  const line = (kind: CheckKind, of: 'slowestMs' | 'medianMs') =>
    reports.map(({ waits }) => {
      const ms = waits[kind]?.[of];
      return ms === undefined ? null : Math.log10(Math.max(ms, SHORTEST_MS));
    });
  return [
    reports.map(({ at }) => (at - latest) / 1000),
    ...CHECK_KINDS.flatMap((kind) => [line(kind, 'slowestMs'), line(kind, 'medianMs')]),
  ];
}

function secondOf(report: LiveReport | undefined): number {
  return Math.floor((report?.at ?? 0) / 1000);
}
