import { type CommandIo, paintFor } from '../command-line/command-io.js';
import type { ContractRun } from './contract-run.js';
import type { ContractSettings } from './contract-options.js';
import { type ContractRow, countOutcomes, groupResults, type RowResult } from './row.js';

const STYLES = { ok: 'green', fail: 'red', skipped: 'gray' } as const;
const WIDTH = 'skipped'.length;

/** Returns the plan of a run, with the sign-ins that it makes. */
export function planText(
  rows: readonly ContractRow[],
  run: ContractRun,
  { url, users, tryWrongPassword }: ContractSettings,
): string {
  const planned = rows.filter((row) => run.lacks(row) === undefined);
  const signIns = Object.entries(users).flatMap(([need, account]) => {
    const { length } = planned.filter(({ needs }) => needs === need);
    const rows = length === 1 ? 'row' : 'rows';
    return account ? [`${JSON.stringify(account.username)} (in ${length} ${rows})`] : [];
  });
  const wrong = planned.filter((row) => row.triesWrongPassword).length;
  return [
    `Runs ${planned.length} of ${rows.length} rows of the contract against ${url}.`,
    signIns.length > 0
      ? `Signs in as ${signIns.join(', ')}, and signs every session out.`
      : 'Opens no session.',
    tryWrongPassword
      ? `Tries ${wrong} wrong passwords of ${JSON.stringify(users.user?.username)}, which may lock the account.`
      : 'Tries no wrong password of a user.',
    'Sends sign-ins of random usernames, which the service must refuse, and may count against this host.',
    '',
  ].join('\n');
}

export class TextReport {
  readonly #io: CommandIo;
  readonly #paint: ReturnType<typeof paintFor>;
  #section: string | undefined;

  constructor(io: CommandIo) {
    this.#io = io;
    this.#paint = paintFor(io.stdout, io);
  }

  add({ row, outcome, text }: RowResult): void {
    const { stdout } = this.#io;
    if (row.section !== this.#section) stdout.write(`\n${this.#paint('bold', row.section)}\n`);
    this.#section = row.section;
    stdout.write(`  ${this.#paint(STYLES[outcome], outcome.padEnd(WIDTH))}  ${row.title}\n`);
    if (outcome === 'fail')
      stdout.write(`  ${' '.repeat(WIDTH)}  ${this.#paint('red', text ?? '')} [${row.id}]\n`);
  }

  /** Prints why rows were skipped, and the totals. */
  finish(results: readonly RowResult[]): void {
    const skipped = groupResults(
      results.filter(({ outcome }) => outcome === 'skipped'),
      ({ text = '' }) => text,
    );
    const reasons = [...skipped].map(([reason, rows]) => `  ${rows.length}: ${reason}.\n`);
    if (reasons.length > 0) this.#io.stdout.write(`\nSkipped, and why:\n${reasons.join('')}`);
    const { ok, fail, skipped: left } = countOutcomes(results);
    this.#io.stdout.write(`\n${results.length} rows: ${ok} ok, ${fail} fail, ${left} skipped.\n`);
  }
}

export function asJson(results: readonly RowResult[]): string {
  const rows = results.map(({ row: { id, section, title }, outcome, text, seconds }) => ({
    id,
    section,
    title,
    outcome,
    ...(text !== undefined && { text }),
    seconds: Number(seconds.toFixed(3)),
  }));
  return `${JSON.stringify({ rows, totals: countOutcomes(results) }, null, 2)}\n`;
}

/**
 * Returns results as the XML of JUnit: a test suite for each section, a test case for each row, and times in
 * seconds.
 */
export function asJunit(results: readonly RowResult[]): string {
  const sections = groupResults(results, ({ row }) => row.section);
  const suites = [...sections].map(
    ([section, rows]) =>
      `  <testsuite ${totals(section, rows)}>\n${rows.map(testCase).join('')}  </testsuite>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals('Contract of the session service', results)}>\n${suites.join('')}</testsuites>\n`;
}

function totals(name: string, results: readonly RowResult[]): string {
  const { fail, skipped } = countOutcomes(results);
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0);
  return attributes({
    name,
    tests: results.length,
    failures: fail,
    errors: 0,
    skipped,
    time: time.toFixed(3),
  });
}

function testCase({ row, outcome, text = '', seconds }: RowResult): string {
  const start = `    <testcase ${attributes({ name: row.title, classname: row.id, time: seconds.toFixed(3) })}`;
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
