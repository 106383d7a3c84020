import { CATEGORIES, type Category, type Findings, type Violation } from './checker.js';
import type { Journal, Request } from './journal.js';

type Row = readonly [name: string, figure: string | number];

const SHOWN = 5;

/** Returns the figures of a run as rows. */
export function rowsOf(
  journal: Journal,
  findings: Findings,
  ways: ReadonlyMap<string, number>,
  violations: readonly Violation[],
): Row[] {
  const { requests, streams, ends, faults } = journal;
  const categories = (Object.keys(CATEGORIES) as Category[]).flatMap((category) =>
    categoryRows(category, findings),
  );
  return [
    ['faults injected', `${faults.length}: ${counted(faults.map(({ name }) => name))}`],
    ['requests, by status', `${requests.length}: ${counted(requests.map(({ status }) => String(status)))}`],
    [
      'streams held open, by the status that they ended with (0: left)',
      `${streams.length}: ${counted(streams.map(({ endedWith }) => String(endedWith)))}`,
    ],
    ['milliseconds of a request, p50, p99, most', latencies(requests)],
    [
      'the same of an instance without a store',
      `${counted(journal.comparison.map(({ status }) => String(status)))}; ${latencies(journal.comparison)}`,
    ],
    ['503 of instances whose machine did not give them the processor', findings.unavailableByStalls],
    ['calls that the service got', journal.serviceCalls],
    ['ways to end', [...ways].map(([name, times]) => `${name}: ${times}`).join('; ')],
    [
      'calls that ended sessions',
      `${ends.length}: ${counted(ends.map(({ kind, outcome }) => `${kind} ${outcome}`))}`,
    ],
    ['acceptances checked, against bounds', `${findings.acceptances}, ${findings.bounds}`],
    [
      'pairs of a call and another instance, healthy, not',
      `${findings.pairs.healthy}, ${findings.pairs.faulty}`,
    ],
    ...categories,
    [
      'beyond 250 ms by no more than a process had no processor, latest ms',
      `${findings.lateByStalls}, ${findings.latestByStallsMs.toFixed(0)}`,
    ],
    ['milliseconds without processor, by process', stalls(journal)],
    [
      'violations',
      [String(violations.length), counted(violations.map(({ rule }) => rule))].filter(Boolean).join(': '),
    ],
  ];
}

/** Returns the first violations of each rule. */
export function detailsOf(violations: readonly Violation[]): string[] {
  const shown = new Map<string, number>();
  return violations.flatMap(({ rule, detail }) => {
    const times = (shown.get(rule) ?? 0) + 1;
    shown.set(rule, times);
    return times > SHOWN ? [] : [`${rule}: ${detail}`];
  });
}

function categoryRows(category: Category, { categories }: Findings): Row[] {
  const { requests, accepted, latestMs } = categories[category];
  const latest = accepted === 0 ? 'none' : `${latestMs.toFixed(0)} ms`;
  return [
    [
      `after an end ${CATEGORIES[category]}: requests, accepted, latest`,
      `${requests}, ${accepted}, ${latest}`,
    ],
  ];
}

function latencies(requests: readonly Request[]): string {
  const sorted = requests
    .map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs)
    .sort((one, other) => one - other);
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN).toFixed(0);
  return `${at(0.5)}, ${at(0.99)}, ${at(1)}`;
}

function stalls({ stalls: byProcess }: Journal): string {
  const sums = [...byProcess].map(([name, spans]) => {
    const worst = spans.reduce((most, { fromMs, toMs }) => Math.max(most, toMs - fromMs), 0);
    const sum = spans.reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0);
    return `${name}: ${sum.toFixed(0)} (longest ${worst.toFixed(0)})`;
  });
  return sums.join(', ');
}

function counted(names: readonly string[]): string {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return [...times]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}
