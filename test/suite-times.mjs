// The time that each suite takes: of the processor, with the programs that it starts, and in all. Every run
// records it, and `node test/suite-times.mjs` prints the suites of the last run that took longest.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
export const TIMES = `${ROOT}dist/suite-times.txt`;

/** Fields of /proc/self/stat, after the name of the command: times of this process and of its ended children. */
const TIMES_OF_STAT = { first: 11, end: 15 };
const TICKS_PER_SECOND = 100;

/** Returns the processor time of this process and of the programs that it started and that have ended. */
export function processorSeconds() {
  if (!existsSync('/proc/self/stat')) return process.cpuUsage().user / 1_000_000;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  const ticks = fields.slice(TIMES_OF_STAT.first, TIMES_OF_STAT.end).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

export function recordTime(suite, seconds, ms) {
  mkdirSync(`${ROOT}dist`, { recursive: true });
  appendFileSync(TIMES, `${seconds.toFixed(1)}\t${(ms / 1_000).toFixed(1)}\t${suite.replace(ROOT, '')}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = readFileSync(TIMES, 'utf8').trim().split('\n');
  const slowest = rows.sort((one, other) => Number.parseFloat(other) - Number.parseFloat(one));
  const seconds = rows.reduce((sum, row) => sum + Number.parseFloat(row), 0);
  console.log(`${rows.length} suites took ${Math.round(seconds)} s of processor time`);
  console.log('processor (s)\tin all (s)\tsuite');
  for (const row of slowest.slice(0, Number(process.argv[2] ?? 20))) console.log(row);
}
