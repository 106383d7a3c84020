import { type CommandIo, paintFor } from '../command-line/command-line.js';
import type { ContractRun, ContractSettings } from './contract-run.js';
import type { RowResult } from './row.js';
import { CONTRACT_ROWS } from './rows.js';

const STYLES = { ok: 'green', fail: 'red', skipped: 'gray' } as const;
const WIDTH = 'skipped'.length;
const MAX_IDS = 3;

/** The plan of a run, with the sign-ins that it makes. */
export function planText(run: ContractRun, { url, users, tryWrongPassword }: ContractSettings): string {
  const planned = CONTRACT_ROWS.filter((row) => run.lacks(row) === undefined);
  const signIns = Object.entries(users).flatMap(([need, account]) => {
    const { length } = planned.filter(({ needs }) => needs === need);
    return account
      ? [`${JSON.stringify(account.username)} (in ${length} ${length === 1 ? 'row' : 'rows'})`]
      : [];
  });
  const wrong = planned.filter((row) => row.triesWrongPassword).length;
  return [
    // The last row is about the sessions of all others.
    `Runs ${planned.length + Number(signIns.length > 0)} of ${CONTRACT_ROWS.length + 1} rows of the contract against ${url}.`,
    signIns.length > 0
      ? `Signs in as ${signIns.join(', ')}, and signs every session out.`
      : 'Opens no session.',
    tryWrongPassword
      ? `Tries ${wrong} wrong passwords of ${JSON.stringify(users.user?.username)}, which may lock the account.`
      : 'Tries no wrong password of a user.',
    'Sends sign-ins of random usernames, which the service must refuse, and may count against this host.\n',
  ].join('\n');
}

/** Returns a function that writes the lines of a row. */
export function rowWriter(io: CommandIo): (result: RowResult) => void {
  const { stdout } = io;
  const paint = paintFor(io);
  const complaints = new Set<string>();
  let current: string | undefined;
  return ({ id, section, title, outcome, text = '' }) => {
    if (section !== current) stdout.write(`\n${paint('bold', section)}\n`);
    current = section;
    stdout.write(`  ${paint(STYLES[outcome], outcome.padEnd(WIDTH))}  ${title}\n`);
    if (outcome !== 'fail' || complaints.has(text)) return;
    complaints.add(text);
    stdout.write(`  ${' '.repeat(WIDTH)}  ${paint('red', text)} [${id}]\n`);
  };
}

/** Why rows failed or were skipped, and the totals. */
export function summaryOf(results: readonly RowResult[]): string {
  const lines = [['fail', 'Failed'] as const, ['skipped', 'Skipped'] as const].flatMap(([outcome, title]) => {
    const left = results.filter((result) => result.outcome === outcome);
    const reasons = [...groupResults(left, ({ text = '' }) => text)].map(
      ([reason, rows]) => `  ${rows.length}: ${reason.replace(/\.?$/, '.')}${idsOf(rows)}`,
    );
    return left.length > 0 ? [`\n${title}, and why:`, ...reasons] : [];
  });
  const { ok, fail, skipped } = countOutcomes(results);
  return [...lines, `\n${results.length} rows: ${ok} ok, ${fail} fail, ${skipped} skipped.\n`].join('\n');
}

/** Few rows are easily overlooked among many. */
function idsOf(rows: readonly RowResult[]): string {
  const failed = rows.filter(({ outcome }) => outcome === 'fail');
  return failed.length > 0 && failed.length <= MAX_IDS ? ` [${failed.map(({ id }) => id).join(', ')}]` : '';
}

function countOutcomes(results: readonly RowResult[]): Readonly<Record<RowResult['outcome'], number>> {
  const counts = { ok: 0, fail: 0, skipped: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

/** Results by a text of theirs, in the order of their first result. */
function groupResults(
  results: readonly RowResult[],
  textOf: (result: RowResult) => string,
): ReadonlyMap<string, readonly RowResult[]> {
  const groups = new Map<string, RowResult[]>();
  for (const result of results) groups.set(textOf(result), [...(groups.get(textOf(result)) ?? []), result]);
  return groups;
}

export function asJson(results: readonly RowResult[]): string {
  const rows = results.map((result) => ({ ...result, seconds: Number(result.seconds.toFixed(3)) }));
  return `${JSON.stringify({ rows, totals: countOutcomes(results) }, null, 2)}\n`;
}

/** A test suite for each section, a test case for each row, and times in seconds. */
export function asJunit(results: readonly RowResult[]): string {
  const sections = groupResults(results, ({ section }) => section);
  const suites = [...sections].map(
    ([section, rows]) =>
      `  <testsuite ${totals(section, rows)}>\n${rows.map(testCase).join('')}  </testsuite>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals('Contract of the session service', results)}>\n${suites.join('')}</testsuites>\n`;
}

function totals(name: string, results: readonly RowResult[]): string {
  const { fail: failures, skipped } = countOutcomes(results);
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3);
  return attributes({ name, tests: results.length, failures, errors: 0, skipped, time });
}

function testCase({ id, title, outcome, text = '', seconds }: RowResult): string {
  const start = `    <testcase ${attributes({ name: title, classname: id, time: seconds.toFixed(3) })}`;
  if (outcome === 'ok') return `${start}/>\n`;
  const element =
    outcome === 'fail'
      ? `<failure ${attributes({ message: text, type: 'Complaint' })}>${escapeXml(text)}</failure>`
      : `<skipped ${attributes({ message: text })}/>`;
  return `${start}>\n      ${element}\n    </testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeXml(String(value))}"`)
    .join(' ');
}

/** Characters that XML 1.0 forbids, also as references. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

function escapeXml(text: string): string {
  return text
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
