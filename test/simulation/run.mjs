// Plays histories of the simulation: SIMULATION_HISTORIES (100,000) from SIMULATION_FIRST_SEED (1) on; with SIMULATION_SEED one, and prints its
// events. With --bugs, plays each deliberate bug, or that of SIMULATION_BUG, until a history finds it; with --traces, also until the model
// rejects a step of its trace.
import { rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BUGS } from './bugs.mjs';
import { bundleWorker } from './bundle.mjs';
import { playHistories } from './workers.mjs';

const folder = fileURLToPath(new URL('../../dist/simulation/', import.meta.url));
const { SIMULATION_SEED, SIMULATION_HISTORIES = '100000', SIMULATION_FIRST_SEED = '1', SIMULATION_BUG } = process.env;
/** Maximum number of histories within which a bug must be found. */
const BUG_HISTORIES = 10_000;
/** The same for traces. */
const TRACE_HISTORIES = 2_000;
const PROGRESS_MS = 10_000;
const programs = new Set();
process.once('exit', () => programs.forEach((program) => rmSync(program, { force: true })));
await mkdir(folder, { recursive: true });

const chosen = BUGS.filter(({ name }) => SIMULATION_BUG === undefined || name === SIMULATION_BUG);
if (chosen.length === 0) throw new Error(`There is no bug '${SIMULATION_BUG}'`);
if (process.argv.includes('--bugs')) await findBugs();
else if (SIMULATION_SEED) await replay(Number(SIMULATION_SEED));
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
  const sums = await playHistories(program, { histories, firstSeed, processes: availableParallelism(), progress });
  const { checks, accepted, calls, steps } = sums;
  const seeds = `seeds ${firstSeed} to ${firstSeed + histories - 1}`;
  console.log(`${sums.histories} histories, ${seeds}, ${rateOf(sums, began)} per second, ${secondsSince(began)} s`);
  console.log(`${checks} checks, ${accepted} of them accepted, ${calls} calls to the service, ${steps} events`);
  printViolations(sums.violations);
}

async function replay(seed) {
  const bug = SIMULATION_BUG === undefined ? undefined : chosen[0];
  const { traces, violations } = await playHistories(await compile(bug), { firstSeed: seed, histories: 1, traces: true });
  for (const { lines, hash } of traces) console.log(`${lines.join('\n')}\ntrace ${hash}`);
  printViolations(violations);
}

async function findBugs() {
  const sound = await compile();
  for (const bug of chosen) {
    const program = await compile(bug);
    // Without the model, so that the two ways to find a bug stay separate.
    const byChecker = await findBug(program, sound, { histories: BUG_HISTORIES, follows: false });
    if (!byChecker.found) process.exitCode = 1;
    console.log(`${bug.name}: ${describe(byChecker)}`);
    if (!process.argv.includes('--traces')) continue;
    const byTrace = await findBug(program, sound, { histories: TRACE_HISTORIES, follows: true });
    console.log(`  with its trace: ${describe(byTrace)}`);
  }
}

function describe({ found, histories, began }) {
  const outcome = found ? `found by history ${found.seed}: ${found.violations[0]}` : `NOT FOUND in ${histories} histories`;
  return `${outcome} (${secondsSince(began)} s)`;
}

/** Returns the first history with a violation that does not occur without the bug. */
async function findBug(program, sound, { histories, follows }) {
  const began = performance.now();
  for (let firstSeed = 1; firstSeed <= histories;) {
    const { violations } = await playHistories(program, { firstSeed, histories: histories - firstSeed + 1, follows });
    const [found] = violations;
    if (!found) break;
    const without = await playHistories(sound, { firstSeed: found.seed, histories: 1, follows });
    if (without.violations.length === 0) return { found, histories, began };
    firstSeed = found.seed + 1;
  }
  return { found: undefined, histories, began };
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
    console.log(`seed ${seed} violates\n  ${violations.join('\n  ')}\n  Replay it: SIMULATION_SEED=${seed} npm run test:simulation`);
  }
}

function rateOf({ histories }, began) {
  return Math.round((histories / (performance.now() - began)) * 1_000);
}

function secondsSince(began) {
  return ((performance.now() - began) / 1_000).toFixed(1);
}
