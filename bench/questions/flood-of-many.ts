import assert from 'node:assert/strict';
import type { LoadApi, Load } from '../processes/load.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { RunningApp, RunningService, Stage } from '../stage.js';
import { atMost } from '../target.js';
import { tokens } from '../users.js';
import type { VariantName } from '../variants/variants.js';

const USERS = 1_000;
const MAX_ENTRIES = 2_000;
const CONNECTIONS = 20;
const FLOOD_MS = 6_000;
const FLOOD = tokens('random', 60_000);
const SIGNED_IN = tokens('user', USERS);
/** The users who stay active during the flood; the others return after it. */
const ACTIVE = SIGNED_IN.slice(0, USERS / 2);

const VARIANTS: readonly (readonly [VariantName, string])[] = [
  ['ours', 'nestjs-session-auth'],
  ['handWrittenLru', 'hand-written guard, one LRU for users and refusals'],
  ['handWritten', 'hand-written guard with a Map of users'],
];

/** Measures the effect of a flood of unknown tokens on users who are signed in. */
export const floodOfMany: Question = {
  name: 'flood-of-many',
  title: 'A flood of random tokens beside signed-in users (cache on)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const [variant, name] of VARIANTS) {
      findings.push(...(await flood(stage, variant, name)));
      await stage.close();
    }
    const notes = [
      `Fastify. ${USERS} users are cached, ${USERS / 2} of them work on during the flood and all come back after it. Caches are bounded to ${MAX_ENTRIES} entries.`,
      `${CONNECTIONS} connections of users, and as many that bring another random token with each request, for ${FLOOD_MS / 1_000} s.`,
    ];
    return { findings, notes };
  },
};

interface Scene {
  readonly service: RunningService;
  readonly app: RunningApp;
  readonly load: Worker<LoadApi>;
  readonly users: Load;
}

async function flood(stage: Stage, variant: VariantName, name: string): Promise<Finding[]> {
  const service = await stage.service();
  const cache = { ttlMs: 300_000, negativeTtlMs: 300_000, maxEntries: MAX_ENTRIES };
  const app = await stage.app(
    { platform: 'Fastify', variant, serviceUrl: service.url, cache },
    { execArgv: ['--expose-gc'] },
  );
  const users = {
    url: app.url,
    path: '/openings',
    header: 'x-auth-token',
    values: ACTIVE,
    connections: CONNECTIONS,
  };
  const scene: Scene = { service, app, load: stage.load(), users };
  await everyoneOnce(scene);
  const before = await userRequestsPerSecond(scene);
  const heapBefore = await app.worker.call('heapBytes');
  await service.worker.call('takeCalls');
  const [during, random] = await Promise.all([userRequestsPerSecond(scene), sendFlood(stage, users)]);
  await everyoneOnce(scene);
  const { user = 0 } = await service.worker.call('takeCalls');
  const grownMb = ((await app.worker.call('heapBytes')) - heapBefore) / 1e6;
  const judged = variant === 'ours' && { target: atMost(0) };
  return [
    {
      subject: `${name}: calls for users`,
      unit: 'calls',
      value: estimateOf([user]),
      calls: `${random} for the flood`,
      ...judged,
    },
    {
      subject: `${name}: users' requests per second`,
      against: 'before the flood',
      unit: 'ratio',
      value: estimateOf([during / before]),
    },
    { subject: `${name}: heap growth`, unit: 'MB', value: estimateOf([grownMb]) },
  ];
}

async function everyoneOnce({ load, users }: Scene): Promise<void> {
  const { replies } = await load.call('sendOnce', { ...users, values: SIGNED_IN, connections: USERS });
  assert.deepEqual(replies, { 200: USERS }, 'every user is let in');
}

async function userRequestsPerSecond({ load, users }: Scene): Promise<number> {
  const { replies, elapsedMs } = await load.call('sendFor', { ...users, durationMs: FLOOD_MS });
  const answered = replies[200] ?? 0;
  assert.deepEqual(replies, { 200: answered }, 'every user is let in');
  return (answered / elapsedMs) * 1_000;
}

async function sendFlood(stage: Stage, users: Load): Promise<number> {
  const { replies } = await stage.load().call('sendFor', { ...users, values: FLOOD, durationMs: FLOOD_MS });
  const refused = replies[401] ?? 0;
  assert.deepEqual(replies, { 401: refused }, 'every random token is refused');
  assert.ok(refused > MAX_ENTRIES, 'the flood is greater than the caches');
  return refused;
}
