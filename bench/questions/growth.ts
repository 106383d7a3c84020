import assert from 'node:assert/strict';
import type { GrowthApi } from '../processes/growth.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { RunningService, Stage } from '../stage.js';
import { atMost } from '../target.js';

const ROUNDS = 9;
const SESSIONS = [1_000, 10_000, 100_000, 1_000_000];
const MOST_SESSIONS = 1_000_000;
const TOKENS = [1, 10, 100, 1_000];
const FIELDS = [1, 8, 64];
const STEADY = { durationMs: 10_000, perSecond: 2_000 };

/** Measures how the cost of a check grows with the load and the cache. */
export const growth: Question = {
  name: 'growth',
  title: 'Cost of a check by the number of sessions, of tokens at once, and of fields',
  ask: async (stage) => {
    const service = await stage.service();
    const findings = [
      ...(await bySessions(stage, service)),
      ...(await byTokens(stage, service)),
      ...(await byFields(stage, service)),
    ];
    const notes = [
      'Processor time, without a network between client and application. Sessions are drawn at random.',
      `The pause is that of the garbage collector, at ${STEADY.perSecond} checks per second for ${STEADY.durationMs / 1_000} s.`,
    ];
    return { findings, notes };
  },
};

async function start(stage: Stage, { url }: RunningService, maxEntries: number): Promise<Worker<GrowthApi>> {
  const worker = stage.worker<GrowthApi>('growth', {
    execArgv: ['--expose-gc', '--max-old-space-size=4096'],
  });
  await worker.call('start', { serviceUrl: url, maxEntries });
  return worker;
}

async function bySessions(stage: Stage, service: RunningService): Promise<Finding[]> {
  const worker = await start(stage, service, MOST_SESSIONS);
  const findings: Finding[] = [];
  for (const sessions of SESSIONS) {
    const subject = `${sessions.toLocaleString('en')} cached sessions`;
    const bytes = await worker.call('fill', { sessions });
    await service.worker.call('takeCalls');
    const times = await repeat(() => worker.call('usPerCheck'));
    assert.deepEqual(await service.worker.call('takeCalls'), { user: 0 }, `${subject}: every check is a hit`);
    const target = sessions === MOST_SESSIONS ? { target: atMost(420) } : {};
    findings.push({ subject: `${subject}: memory`, unit: 'MB', value: estimateOf([bytes / 1e6]), ...target });
    findings.push({ subject: `${subject}: one check`, unit: 'us', value: estimateOf(times) });
  }
  const pause = await worker.call('longestPauseMs', STEADY);
  const subject = `${MOST_SESSIONS.toLocaleString('en')} cached sessions: longest pause`;
  await worker.stop();
  return [...findings, { subject, unit: 'ms', value: estimateOf([pause]), target: atMost(50) }];
}

async function byTokens(stage: Stage, service: RunningService): Promise<Finding[]> {
  const worker = await start(stage, service, 0);
  const findings: Finding[] = [];
  for (const tokens of TOKENS) {
    await worker.call('usPerCall', { tokens });
    const value = estimateOf(await repeat(() => worker.call('usPerCall', { tokens })));
    findings.push({
      subject: `${tokens.toLocaleString('en')} uncached tokens at once: one check`,
      unit: 'us',
      value,
    });
  }
  await worker.stop();
  return findings;
}

async function byFields(stage: Stage, service: RunningService): Promise<Finding[]> {
  const worker = await start(stage, service, 1_000);
  await worker.call('fill', { sessions: 1_000 });
  const findings: Finding[] = [];
  for (const fields of FIELDS) {
    await worker.call('usPerOperation', { fields });
    const value = estimateOf(await repeat(() => worker.call('usPerOperation', { fields })));
    findings.push({ subject: `${fields} guarded fields of one operation`, unit: 'us', value });
  }
  await worker.stop();
  return findings;
}

async function repeat(measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) values.push(await measure());
  return values;
}
