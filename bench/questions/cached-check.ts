import assert from 'node:assert/strict';
import type { CachedCheckApi } from '../processes/cached-check.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf, ratios } from '../estimate.js';
import { runHeats } from '../heats.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import { LONG_CACHE } from '../variants/variant.js';
import type { VariantName } from '../variants/variants.js';

/** Short, so that the variants of a round find the machine in the same state. */
const ROUNDS = 25;
const ROUND_MS = 40;
/** Until V8 has compiled what a check runs: its compiler's threads count as the process's own time. */
const WARM_UP_MS = 5_000;

const NAMES = {
  ours: 'nestjs-session-auth',
  leastGuard: 'limit: digest, Map, user and headers only',
  handWritten: 'hand-written, Map under the token',
  handWrittenDigest: 'hand-written, Map under createHash',
  passport: '@nestjs/passport + passport-custom, Map under the token',
} as const satisfies Partial<Record<VariantName, string>>;

/** Measures the cost of the guard when the session is cached. */
export const cachedCheck: Question = {
  name: 'cached-check',
  title: 'One check of a cached session inside the process: guard.canActivate()',
  ask: async (stage) => {
    const times = new Map<string, number[]>(Object.values(NAMES).map((name) => [name, []]));
    const headerTimes: number[] = [];
    await runHeats(
      () => runHeat(stage, times, headerTimes),
      () => [ratios(times.get(NAMES.leastGuard) ?? [], times.get(NAMES.ours) ?? [])],
    );
    const headers = {
      subject: 'of which: the two headers that keep shared caches away',
      unit: 'us',
      value: estimateOf(headerTimes),
    };
    return { findings: [headers, ...findingsOf(times)], notes: NOTES };
  },
};

const NOTES = [
  'Fresh request and reply objects of node:http for every check, made outside the measured time. Ours and the limit set two reply headers within it, the others none.',
];

async function runHeat(
  stage: Stage,
  times: ReadonlyMap<string, number[]>,
  headerTimes: number[],
): Promise<void> {
  const service = await stage.service();
  const workers: [string, Worker<CachedCheckApi>][] = [];
  for (const [variant, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    const worker = stage.worker<CachedCheckApi>('cached-check');
    await worker.call('start', { variant, serviceUrl: service.url, cache: LONG_CACHE });
    workers.push([name, worker]);
  }
  for (const [, worker] of workers) await worker.call('run', { durationMs: WARM_UP_MS });
  await service.worker.call('takeCalls');
  const rounds = new Map<string, number[]>(workers.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, worker] of workers) {
      const { usPerCheck, promises } = await worker.call('run', { durationMs: ROUND_MS });
      rounds.get(name)?.push(usPerCheck);
      if (name !== NAMES.ours) continue;
      assert.equal(promises, 0, 'a hit gives no promise');
      headerTimes.push(await worker.call('runReplyHeaders', { durationMs: ROUND_MS }));
    }
  }
  for (const [name, values] of rounds) times.get(name)?.push(estimateOf(values).median);
  assert.deepEqual(
    Object.values(await service.worker.call('takeCalls')).filter(Boolean),
    [],
    'every check is a hit',
  );
  await stage.close();
}

function findingsOf(times: ReadonlyMap<string, readonly number[]>): Finding[] {
  const ours = times.get(NAMES.ours) ?? [];
  return [...times].flatMap(([name, own]) => {
    const time: Finding = { subject: name, unit: 'us', value: estimateOf(own), calls: '0' };
    if (name === NAMES.ours) return [time];
    const ratio: Finding = { subject: name, against: NAMES.ours, unit: 'ratio', value: ratios(own, ours) };
    return [time, name === NAMES.leastGuard ? { ...ratio, target: atLeast(0.85) } : ratio];
  });
}
