import assert from 'node:assert/strict';
import { estimateOf } from './estimate.js';
import { runHeats } from './heats.js';
import type { Traffic } from './processes/load.worker.js';
import type { RunningApp, RunningFarEnd, Stage } from './stage.js';

const CONNECTIONS = 50;
/** Short, so that the contenders of a round find the machine in the same state. */
const ROUNDS = 20;
const ROUND_MS = 150;
/** Before that, V8 has not yet optimised all of what a request runs: some guards become twice as fast. */
const WARM_UP_LAPS = 2;
const WARM_UP_MS = 1_500;

/** One variant in a race. */
export interface Contender {
  readonly name: string;
  readonly app: RunningApp;
  readonly traffic: Traffic;
  /** The URL for the load, if it is not the application itself. */
  readonly url?: string;
  /** Microseconds of processor time that other processes have used for its replies, such as a proxy. */
  readonly moreCpuUs?: () => number;
  readonly expectedStatus: 200 | 401;
  readonly callsPerRequest: 0 | 1;
}

/** The contenders, and what is at the far end of them. */
export interface LineUp {
  readonly contenders: readonly Contender[];
  readonly farEnd: RunningFarEnd;
}

/** The figures of a contender. */
export interface Laps {
  /** Requests for a second of processor time, for each round of each heat. */
  readonly heats: number[][];
  requests: number;
  calls: number;
}

/** The laps of each contender, by name. */
export type RaceResult = ReadonlyMap<string, Laps>;

/**
 * Runs heats until the ratio of each of the pairs is known precisely enough, or the time is over. The stage is
 * empty after each heat.
 */
export async function race(
  stage: Stage,
  lineUp: () => Promise<LineUp>,
  pairs: readonly Pair[],
): Promise<RaceResult> {
  const result = new Map<string, Laps>();
  const heat = async (): Promise<void> => {
    const { contenders, farEnd } = await lineUp();
    await runHeat(contenders, farEnd, result);
    await stage.close();
  };
  await runHeats(heat, () => pairs.map(([name, against]) => estimateOf(ratiosOf(result, name, against))));
  return result;
}

/** A contender, and the one that it is compared with. */
export type Pair = readonly [name: string, against: string];

/** Returns the ratios of two contenders, one for each heat: the median of those of its rounds. */
export function ratiosOf(result: RaceResult, name: string, against: string): number[] {
  const base = lapsOf(result, against).heats;
  return lapsOf(result, name).heats.map(
    (rounds, heat) => estimateOf(rounds.map((value, round) => value / (base[heat]?.[round] ?? NaN))).median,
  );
}

/**
 * Runs the contenders one after the other, round by round, each round in another order, after laps that do not
 * count.
 */
async function runHeat(
  contenders: readonly Contender[],
  farEnd: RunningFarEnd,
  result: Map<string, Laps>,
): Promise<void> {
  for (const contender of contenders) {
    if (contender.callsPerRequest === 0) await presentEachOnce(contender, farEnd);
    if (!result.has(contender.name)) result.set(contender.name, { heats: [], requests: 0, calls: 0 });
    lapsOf(result, contender.name).heats.push([]);
  }
  for (let lap = 0; lap < WARM_UP_LAPS; lap += 1)
    for (const contender of contenders) await runLap(contender, farEnd, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of inTurn(contenders, round)) {
      const { requests, calls, cpuUs } = await runLap(contender, farEnd, ROUND_MS);
      assert.equal(
        calls,
        requests * contender.callsPerRequest,
        `${contender.name} makes ${contender.callsPerRequest} calls for a request`,
      );
      const laps = lapsOf(result, contender.name);
      laps.heats.at(-1)?.push((requests / cpuUs) * 1_000_000);
      laps.requests += requests;
      laps.calls += calls;
    }
  }
}

/** The figures of one contender. */
export function lapsOf(result: RaceResult, name: string): Laps {
  const laps = result.get(name);
  assert.ok(laps, `${name} has run`);
  return laps;
}

/** Fills the cache of a variant before it counts. */
async function presentEachOnce(
  { app, url = app.url, traffic }: Contender,
  { worker }: RunningFarEnd,
): Promise<void> {
  await worker.call('sendOnce', { ...traffic, url, connections: traffic.values.length });
}

async function runLap(
  { name, app, traffic, url = app.url, expectedStatus, moreCpuUs = () => 0 }: Contender,
  { worker }: RunningFarEnd,
  durationMs: number,
) {
  await worker.call('takeCalls');
  const cpuBefore = (await app.worker.call('cpuUs')) + moreCpuUs();
  const { replies } = await worker.call('sendFor', {
    ...traffic,
    url,
    connections: CONNECTIONS,
    durationMs,
  });
  const cpuUs = (await app.worker.call('cpuUs')) + moreCpuUs() - cpuBefore;
  const calls = Object.values(await worker.call('takeCalls')).reduce((sum, count) => sum + count, 0);
  const requests = replies[expectedStatus] ?? 0;
  assert.deepEqual(
    replies,
    { [expectedStatus]: requests },
    `${name} answers ${expectedStatus} and nothing else`,
  );
  assert.ok(requests > 0, `${name} answers`);
  return { requests, calls, cpuUs };
}

function inTurn<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
