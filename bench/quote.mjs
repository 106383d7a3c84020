// Quotes the last run in the README: `npm run bench` does it, and `npm run check` fails where the README says something else.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const README = fileURLToPath(new URL('../README.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));

const OURS = 'nestjs-session-auth, against';
/** What the README says of a figure, and where the table of targets has it: for each platform, or once. */
const QUOTED = [
  ['every request asks the service: requests per second against a hand-written guard', 'guarded-uncached', `${OURS} hand-written guard`],
  ['the same against nest-keycloak-connect, online', 'guarded-uncached', `${OURS} nest-keycloak-connect, online`],
  ['the same against undici in a bare guard that checks nothing', 'guarded-uncached', `${OURS} limit: undici in a bare guard`],
  ['every session remembered: against the unguarded route', 'guarded-cached', `${OURS} unguarded`],
  ["a flood of one refused token: refusals against the unguarded route's replies", 'flood-of-one', `${OURS} unguarded, answering 200`],
  ['calls to the service for 1,000 concurrent requests of one cold token', 'stampede'],
  ['requests of 1,000 in active sessions that wait for the service with refresh-ahead', 'waiting'],
];

const targets = readFileSync(RESULTS, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, question, measured, spread]) => ({ question, measured, median: /\*\*(.+)\*\*/.exec(spread)?.[1] ?? spread }));

const rows = QUOTED.map(([says, question, measured]) =>
  measured === undefined
    ? [says, ...worst(question), '']
    : [says, ...['Fastify', 'Express'].map((platform) => median(question, `${platform}: ${measured}`))],
);
const before = readFileSync(README, 'utf8');
const after = before.replace(
  /(<!-- bench: start -->[^]*?\n)\|[^]*?\n(\n<!-- bench: end -->)/,
  (_, head, tail) => head + table(rows) + tail,
);

if (!process.argv.includes('--check')) writeFileSync(README, after);
else if (after !== before) throw new Error('The README does not quote bench/RESULTS.md: run "node bench/quote.mjs".');
else console.log(`the README quotes ${rows.length} figures of bench/RESULTS.md`);

function median(question, measured) {
  const found = targets.find((target) => target.question === question && target.measured === measured);
  if (!found) throw new Error(`bench/RESULTS.md has no ${question}: ${measured}`);
  return found.median;
}

/** One figure for several findings of a question. */
function worst(question) {
  const found = targets.filter((target) => target.question === question).map((target) => Number(target.median));
  if (found.length === 0) throw new Error(`bench/RESULTS.md has no ${question}`);
  return [String(Math.max(...found))];
}

/** As prettier writes it. */
function table(cells) {
  const all = [['question', 'Fastify', 'Express'], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [head, ...rest] = all.map(line);
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest, ''].join('\n');
}
