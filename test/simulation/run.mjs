// Plays histories of the simulation: SIMULATION_HISTORIES (100,000) from SIMULATION_FIRST_SEED (1) on; with
// SIMULATION_SEED one, and prints its events. With --bugs, plays each deliberate bug, or that of
// SIMULATION_BUG, until a history finds it. With --record, writes the result to RESULTS.md: of 1,000,000
// histories, unless SIMULATION_HISTORIES is set, in blocks, so that a run of the same commit that was stopped
// continues; or of all bugs.
import { rmSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';
import { commitOf, machine, today } from '../../tools/record-run.mjs';
import { BUGS } from './bugs.mjs';
import { bundleWorker } from './bundle.mjs';
import { playHistories } from './workers.mjs';

const folder = fileURLToPath(new URL('../../dist/simulation/', import.meta.url));
const records = process.argv.includes('--record');
const {
  SIMULATION_SEED,
  SIMULATION_HISTORIES = records ? '1000000' : '100000',
  SIMULATION_FIRST_SEED = '1',
  SIMULATION_BUG,
} = process.env;
/** Maximum number of histories within which a bug must be found. */
const BUG_HISTORIES = 20_000;
const PROGRESS_MS = 10_000;
/** Histories after which a recorded run keeps its progress. */
const BLOCK = 20_000;
const PROGRESS = `${folder}progress.json`;
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url));
const programs = new Set();
process.once('exit', () => programs.forEach((program) => rmSync(program, { force: true })));
await mkdir(folder, { recursive: true });

const chosen = BUGS.filter(({ name }) => SIMULATION_BUG === undefined || name === SIMULATION_BUG);
if (chosen.length === 0) throw new Error(`There is no bug '${SIMULATION_BUG}'`);
if (process.argv.includes('--bugs')) await findBugs();
else if (SIMULATION_SEED) await replay(Number(SIMULATION_SEED));
else if (records) await playAndRecord(Number(SIMULATION_HISTORIES), Number(SIMULATION_FIRST_SEED));
else await play(Number(SIMULATION_HISTORIES), Number(SIMULATION_FIRST_SEED));

async function play(histories, firstSeed) {
  const program = await compile();
  const began = performance.now();
  let printedAt = began;
  const progress = (sums) => {
    if (performance.now() - printedAt < PROGRESS_MS) return;
    printedAt = performance.now();
    console.log(`${sums.histories} histories, ${rateOf(sums, began)} per second`);
  };
  const sums = await playHistories(program, {
    histories,
    firstSeed,
    processes: availableParallelism(),
    progress,
  });
  const { checks, accepted, calls, steps } = sums;
  const seeds = `seeds ${firstSeed} to ${firstSeed + histories - 1}`;
  console.log(
    `${sums.histories} histories, ${seeds}, ${rateOf(sums, began)} per second, ${secondsSince(began)} s`,
  );
  console.log(
    `${checks} checks, ${accepted} of them accepted, ${calls} calls to the service, ${steps} events`,
  );
  printViolations(sums.violations);
}

/** Plays in blocks, and keeps the sums of a commit in a file after each. */
async function playAndRecord(histories, firstSeed) {
  const program = await compile();
  const run = { commit: commitOf(import.meta.url), firstSeed, histories };
  const progress = { ...run, played: 0, seconds: 0, checks: 0, accepted: 0, calls: 0, steps: 0 };
  const kept = await keptProgress();
  if (kept && Object.entries(run).every(([name, value]) => kept[name] === value))
    Object.assign(progress, kept);
  while (progress.played < histories) {
    const began = performance.now();
    const block = {
      firstSeed: firstSeed + progress.played,
      histories: Math.min(BLOCK, histories - progress.played),
    };
    const sums = await playHistories(program, { ...block, processes: availableParallelism() });
    printViolations(sums.violations);
    if (sums.violations.length > 0) return;
    for (const name of ['checks', 'accepted', 'calls', 'steps']) progress[name] += sums[name];
    progress.played += sums.histories;
    progress.seconds += (performance.now() - began) / 1_000;
    await writeFile(PROGRESS, JSON.stringify(progress));
    console.log(`${progress.played} histories, ${Math.round(progress.played / progress.seconds)} per second`);
  }
  await record('Histories', describeRun(progress));
  await rm(PROGRESS);
}

async function keptProgress() {
  try {
    return JSON.parse(await readFile(PROGRESS, 'utf8'));
  } catch {
    return undefined;
  }
}

function describeRun({ commit, firstSeed, histories, seconds, checks, accepted, calls, steps }) {
  const rate = Math.round(histories / seconds);
  return [
    `- ${today()}, commit ${commit}`,
    `- ${whole(histories)} histories, seeds ${firstSeed} to ${firstSeed + histories - 1}: no violation`,
    `- ${whole(Math.round(seconds))} s, ${whole(rate)} histories per second: ${machine()}`,
    `- ${whole(checks)} checks, ${whole(accepted)} of them accepted, ${whole(calls)} calls to the service, ${whole(steps)} events`,
  ].join('\n');
}

/** Replaces one section of RESULTS.md. */
async function record(title, text) {
  const before = await readFile(RESULTS, 'utf8');
  const parts = before.split(/^(?=## )/m);
  const section = `## ${title}\n\n${text}\n`;
  const index = parts.findIndex((part) => part.startsWith(`## ${title}\n`));
  if (index < 0) throw new Error(`${RESULTS} has no section '${title}'`);
  parts[index] = index === parts.length - 1 ? section : `${section}\n`;
  await writeFile(RESULTS, await formatMarkdown(parts.join('')));
}

function whole(number) {
  return number.toLocaleString('en-US');
}

async function replay(seed) {
  const bug = SIMULATION_BUG === undefined ? undefined : chosen[0];
  const { traces, violations } = await playHistories(await compile(bug), {
    firstSeed: seed,
    histories: 1,
    traces: true,
  });
  for (const { lines, hash } of traces) console.log(`${lines.join('\n')}\ntrace ${hash}`);
  printViolations(violations);
}

async function findBugs() {
  const sound = await compile();
  const rows = [];
  for (const bug of chosen) {
    const program = await compile(bug);
    const { found, seconds } = await findBug(program, sound);
    if (!found) process.exitCode = 1;
    const outcome = found
      ? `found by history ${found.seed}: ${found.violations[0]}`
      : `NOT FOUND in ${BUG_HISTORIES} histories`;
    console.log(`${bug.name}: ${outcome} (${seconds} s)`);
    rows.push(
      `| ${bug.name} | ${found?.seed ?? 'not found'} | ${found?.violations[0].split(':')[0] ?? ''} |`,
    );
  }
  if (!records || SIMULATION_BUG !== undefined) return;
  const head = `${today()}, commit ${commitOf(import.meta.url)}. The first history that finds it, of seeds from 1 on, and the promise that it breaks.`;
  await record(
    'Deliberate bugs',
    `${head}\n\n| bug | history | promise |\n| --- | ---: | --- |\n${rows.join('\n')}`,
  );
}

/** Returns the first history with a violation that does not occur without the bug. */
async function findBug(program, sound) {
  const began = performance.now();
  for (let firstSeed = 1; firstSeed <= BUG_HISTORIES;) {
    const { violations } = await playHistories(program, {
      firstSeed,
      histories: BUG_HISTORIES - firstSeed + 1,
    });
    const [found] = violations;
    if (!found) break;
    firstSeed = found.seed + 1;
    const without = await playHistories(sound, { firstSeed: found.seed, histories: 1 });
    if (without.violations.length === 0) return { found, seconds: secondsSince(began) };
  }
  return { found: undefined, seconds: secondsSince(began) };
}

async function compile(bug) {
  const program = `${folder}${process.pid}-${bug ? bug.name.replace(/\W+/g, '-') : 'sound'}.mjs`;
  programs.add(program);
  await bundleWorker(program, bug);
  return program;
}

function printViolations(found) {
  if (found.length === 0) return;
  process.exitCode = 1;
  for (const { seed, violations } of found) {
    console.log(
      `seed ${seed} violates\n  ${violations.join('\n  ')}\n  Replay it: SIMULATION_SEED=${seed} npm run test:simulation`,
    );
  }
}

function rateOf({ histories }, began) {
  return Math.round((histories / (performance.now() - began)) * 1_000);
}

function secondsSince(began) {
  return ((performance.now() - began) / 1_000).toFixed(1);
}
