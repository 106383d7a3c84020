import { countOutcomes, groupResults, type RowResult } from './row-result.js';

/** Returns results as the XML of JUnit: a test suite for each section, a test case for each row, and times in seconds. */
export function asJunit(results: readonly RowResult[]): string {
  const sections = groupResults(results, ({ row }) => row.section);
  const suites = [...sections].map(
    ([section, rows]) => `  <testsuite ${totals(section, rows)}>\n${rows.map(testCase).join('')}  </testsuite>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals('Contract of the session service', results)}>\n${suites.join('')}</testsuites>\n`;
}

function totals(name: string, results: readonly RowResult[]): string {
  const { fail, skipped } = countOutcomes(results);
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0);
  return attributes({ name, tests: results.length, failures: fail, errors: 0, skipped, time: time.toFixed(3) });
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

/** Escapes a text for an element or an attribute. */
function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
