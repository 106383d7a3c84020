import { SeededRandom } from '../../test/support/seeded-random.js';
import { Checker, type Violation } from './checker.js';
import { nowMs } from './clock.js';
import { Faults } from './faults.js';
import { Fleet } from './fleet.js';
import { Journal } from './journal.js';
import { detailsOf, rowsOf } from './report.js';
import type { RunReport } from './results-page.js';
import { INSTANCES, SABOTAGES, type Sabotage } from './settings.js';
import { Visitors } from './visitors.js';

const COLLECT_MS = 500;

/** One run. */
export interface RunOrder {
  readonly minutes: number;
  readonly seed: number;
  /** Number of users per second whose sessions are revoked. */
  readonly rate: number;
  readonly sabotage?: Sabotage | undefined;
}

/**
 * Starts a fleet, revokes sessions and injects faults for a while, and compares the records with the bounds.
 */
export async function observe(
  order: RunOrder,
): Promise<RunReport & { readonly violations: readonly Violation[] }> {
  const command = commandOf(order);
  console.log(`${command}${order.sabotage ? `: ${SABOTAGES[order.sabotage]}` : ''}`);
  const journal = new Journal(INSTANCES);
  const { ways, stillRunning } = await run(order, journal);
  const findings = new Checker(journal).check();
  if (findings.acceptances === 0 || journal.faults.length === 0)
    throw new Error('Nothing was tried: the observer has seen nothing');
  const notEnded = stillRunning.map((name) => ({
    rule: 'a process that does not end by itself',
    detail: name,
  }));
  const violations = [...findings.violations, ...notEnded];
  return {
    command,
    rows: rowsOf(journal, findings, ways, violations),
    details: detailsOf(violations),
    violations,
  };
}

async function run(
  { minutes, seed, rate, sabotage }: RunOrder,
  journal: Journal,
): Promise<{ ways: ReadonlyMap<string, number>; stillRunning: readonly string[] }> {
  const fleet = await Fleet.start(seed, sabotage);
  const visitors = new Visitors(fleet, journal, new SeededRandom(seed + 1));
  let collected = Promise.resolve();
  const collecting = setInterval(() => {
    collected = collected.then(() => fleet.collect(journal));
  }, COLLECT_MS);
  const untilMs = nowMs() + minutes * 60_000;
  await Promise.all([
    new Faults(fleet, journal, new SeededRandom(seed)).run(untilMs),
    visitors.run(untilMs, rate, nowMs),
  ]);
  clearInterval(collecting);
  await collected;
  await fleet.collect(journal);
  return { ways: visitors.ways, stillRunning: await fleet.stop() };
}

function commandOf({ minutes, seed, rate, sabotage }: RunOrder): string {
  const options = `--minutes ${minutes} --seed ${seed} --rate ${rate}${sabotage ? ` --sabotage ${sabotage}` : ''}`;
  return `npm run bench:observer -- ${options}`;
}
