import assert from 'node:assert/strict';
import type { FloodApi, Served } from '../processes/flood.worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import { tokens } from '../users.js';
import type { VariantName } from '../variants/variants.js';

const LATENCY_MS = 450;
const WORKERS = 16;
const CAPACITY = WORKERS / (LATENCY_MS / 1_000);
const TIMES = [1.5, 3, 10];
const FLOOD_MS = 20_000;
/** Milliseconds after which a user gives up waiting. */
const PATIENCE_MS = 5_000;

const KNOWN = { values: tokens('user', 40), perSecond: CAPACITY * 0.2 };
const UNKNOWN = { values: tokens('usernew', 1_000), perSecond: CAPACITY * 0.1 };
const JUNK = tokens('random', 10_000);

const VARIANTS: readonly (readonly [VariantName, string])[] = [
  ['ours', 'nestjs-session-auth'],
  ['handWritten', 'hand-written guard, no limits'],
  ['opossum', 'hand-written guard with opossum'],
];

/** Measures the share of users that are served beside junk at a multiple of the service's capacity. */
export const floodOfStrangers: Question = {
  name: 'flood-of-strangers',
  title: "Users served while junk arrives at a multiple of the service's capacity (cache off)",
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const times of TIMES)
      for (const [variant, name] of VARIANTS) findings.push(...(await flood(stage, variant, name, times)));
    const notes = [
      `Fastify. The service works on ${WORKERS} requests of ${LATENCY_MS} ms at a time, ${CAPACITY.toFixed(1)} a second, and queues the others itself.`,
      `Known users come at a fifth of that, new users with good tokens at a tenth, for ${FLOOD_MS / 1_000} s; who has no answer after ${PATIENCE_MS / 1_000} s has gone.`,
      'New users and junk are the same to a guard: their fair share is the remaining capacity of the service, divided by all of them.',
    ];
    return { findings, notes };
  },
};

async function flood(stage: Stage, variant: VariantName, name: string, times: number): Promise<Finding[]> {
  const service = await stage.service({ latencyMs: LATENCY_MS, workers: WORKERS });
  const app = await stage.app({ platform: 'Fastify', variant, serviceUrl: service.url });
  const worker = stage.worker<FloodApi>('flood');
  const order = { url: `${app.url}/openings`, header: 'x-auth-token', patienceMs: PATIENCE_MS };
  const before = await worker.call('flood', { ...order, durationMs: 6_000, callers: { known: KNOWN } });
  assert.deepEqual(
    before.known?.replies,
    { 200: before.known?.asked },
    'every known user is let in before the flood',
  );
  await service.worker.call('takeCalls');
  const callers = { known: KNOWN, unknown: UNKNOWN, junk: { values: JUNK, perSecond: CAPACITY * times } };
  const { known, unknown, junk } = await worker.call('flood', { ...order, durationMs: FLOOD_MS, callers });
  const { user = 0, usernew = 0, random = 0 } = await service.worker.call('takeCalls');
  await stage.close();
  assert.ok(known && unknown && junk, 'all kinds were sent');
  const subject = `${times} times, ${name}`;
  const judged = variant === 'ours' && { target: atLeast(0.99) };
  return [
    {
      subject: `${subject}: known users served`,
      unit: 'part',
      value: estimateOf([partOf(known)]),
      calls: `${user} for ${known.asked}`,
      ...judged,
    },
    {
      subject: `${subject}: new users served`,
      unit: 'ratio',
      value: estimateOf([partOf(unknown)]),
      calls: `${usernew} for ${unknown.asked}`,
    },
    {
      subject: `${subject}: known users waited`,
      unit: 'ms',
      value: estimateOf(known.waitsMs),
      calls: `${random} for ${junk.asked} of junk`,
    },
  ];
}

function partOf({ replies, asked }: Served): number {
  return (replies[200] ?? 0) / asked;
}
