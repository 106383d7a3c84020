// Quotes the last run in docs/performance.md. `npm run bench` runs this; `npm run check` fails if the page quotes other figures.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));

const OURS = 'nestjs-session-auth, against';
/** The page's name for a figure, and its place in the table of targets: for each platform, or once. */
const QUOTED = [
  ['cache off: requests per second, divided by those of a hand-written guard', 'guarded-uncached', `${OURS} hand-written guard`],
  ['cache off: divided by those of nest-keycloak-connect, online', 'guarded-uncached', `${OURS} nest-keycloak-connect, online`],
  [
    'cache off: divided by those of undici in a bare guard that checks nothing',
    'guarded-uncached',
    `${OURS} limit: undici in a bare guard`,
  ],
  ['every session cached: divided by those of the unguarded route', 'guarded-cached', `${OURS} unguarded`],
  [
    'flood of one refused token: refusals per second, divided by requests of the unguarded route',
    'flood-of-one',
    `${OURS} unguarded, answering 200`,
  ],
  ['calls to the service for 1,000 concurrent requests of one cold token', 'stampede'],
  ['requests of active sessions that wait for the service with refresh-ahead, of 1,000', 'waiting'],
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
const before = readFileSync(PAGE, 'utf8');
const after = before.replace(
  /(<!-- bench: start -->[^]*?\n)\|[^]*?\n(\n<!-- bench: end -->)/,
  (_, head, tail) => head + table(rows) + tail,
);

if (!process.argv.includes('--check')) writeFileSync(PAGE, after);
else if (after !== before) throw new Error('docs/performance.md does not quote bench/RESULTS.md: run "node bench/quote.mjs".');
else console.log(`docs/performance.md quotes ${rows.length} figures of bench/RESULTS.md`);

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
