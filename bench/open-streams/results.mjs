// RESULTS.md: each row has the commit and the date of its last run, because kinds can be measured alone.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';
import { today } from '../../tools/record-run.mjs';
import { KINDS } from './clients.mjs';

const PAGE = fileURLToPath(new URL('RESULTS.md', import.meta.url));
/** Milliseconds, of 99 of 100 ends. */
const TARGETS = { here: 50, elsewhere: 250 };
const HEAD = [
  'kind',
  'platform',
  'NestJS',
  'here, p50',
  'here, p99',
  'elsewhere, p50',
  'elsewhere, p99',
  'commit',
  'date',
];

/**
 * Writes the rows that were measured, and the crowds, if they were; keeps the others. Returns whether all rows
 * reach the targets.
 */
export async function record({ rows, crowds, commit, redis, ends, sessions, ofEach, recheckMs }) {
  const [before = '', crowdsBefore = ''] = existsSync(PAGE)
    ? readFileSync(PAGE, 'utf8').split(/^(?=## )/m)
    : [];
  const all = inOrder(new Map([...cellsIn(before), ...rows].map((cells) => [nameOf(cells), cells])));
  const missed = all
    .filter((cells) => Number(cells[4]) > TARGETS.here || Number(cells[6]) > TARGETS.elsewhere)
    .map(nameOf);
  const page = `# How soon what is open ends with its session, and what it costs

Written by \`npm run bench:open-streams\`; not edited by hand. The last run: Node.js ${process.version}, ${cpus().length} processors, Redis ${redis}.

Two instances, each a process, with Redis and the session service on the same machine; ${ends} ends of each kind, one after the other. Milliseconds from the call
until the client had the last byte, while the source writes a part every 5 ms: \`signOut\` on the instance that holds the stream, and \`forgetUser\` on the other one.

${table(HEAD, all)}

Targets, p99: ${TARGETS.here} ms here, ${TARGETS.elsewhere} ms elsewhere: ${missed.length === 0 ? 'reached by all' : `**not reached** by ${missed.join('; ')}`}.

${
  crowds.length === 0
    ? crowdsBefore
    : `## ${sessions * ofEach} open streams of ${sessions} sessions

Measured on ${today()}, commit ${commit}. Streams of events without a part after the first, on NestJS 12, beside the same without a guard; each session is checked again every ${recheckMs / 1_000} s.

${tableOfCrowds(crowds)}`
}
`;
  writeFileSync(PAGE, await formatMarkdown(page));
  return missed.length === 0;
}

const nameOf = ([kind, platform, major]) => `${kind} on ${platform}, NestJS ${major}`;

function inOrder(cells) {
  const names = [12, 11].flatMap((major) =>
    ['Express', 'Fastify'].flatMap((platform) => KINDS.map(({ kind }) => nameOf([kind, platform, major]))),
  );
  return names.flatMap((name) => (cells.has(name) ? [cells.get(name)] : []));
}

function cellsIn(text) {
  return [...text.matchAll(/^\| (.+) \|$/gm)].map(([, line]) => line.split('|').map((cell) => cell.trim()));
}

function tableOfCrowds(crowds) {
  const bytes = (value) => value.toFixed(0);
  const ms = (value) => value.toFixed(1);
  const rows = crowds.flatMap(({ platform, guarded, unguarded }) => [
    ['heap of each stream', platform, 'bytes', bytes(guarded.bytesOfEach), bytes(unguarded.bytesOfEach)],
    ['resident memory of each', platform, 'bytes', bytes(guarded.rssOfEach), bytes(unguarded.rssOfEach)],
    ['CPU while they are idle', platform, 'ms per s', ms(guarded.cpuPerSecond), ms(unguarded.cpuPerSecond)],
    ['rechecks', platform, 'per s', ms(guarded.checksPerSecond), ms(unguarded.checksPerSecond)],
    ['until all of one user have ended', platform, 'ms', ms(guarded.ofUser), ''],
    ['until all of all users have ended', platform, 'ms', ms(guarded.ofAll), ''],
  ]);
  return table(['what', 'platform', 'unit', 'guarded', 'unguarded'], rows);
}

function table(head, rows) {
  const align = head.map((name, column) =>
    column < 3 || name === 'commit' || name === 'date' ? '---' : '---:',
  );
  return [head, align, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
