import assert from 'node:assert/strict';
import type { FloodApi } from '../processes/flood.worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import { tokens } from '../users.js';

const LATENCY_MS = 450;
const WORKERS = 16;
const CAPACITY = WORKERS / (LATENCY_MS / 1_000);
const FLOOD_MS = 20_000;
/** Milliseconds after which a user gives up waiting. */
const PATIENCE_MS = 5_000;
/** More than the library keeps known. */
const SESSIONS = 10_500;
const CONNECTIONS = 10;

const KNOWN = { values: tokens('user', 40), perSecond: CAPACITY * 0.2 };
const JUNK = { values: tokens('random', 10_000), perSecond: CAPACITY * 3 };

const FILLS = ['no other account', 'one account with checks', 'one account with sign-ins'] as const;

/** Measures the share of known users that are served beside junk, when one account has opened many sessions. */
export const fillByOne: Question = {
  name: 'fill-by-one',
  title: 'Known users served beside junk, after one account has opened 10,500 sessions (cache off)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const fill of FILLS) findings.push(...(await findingsOf(stage, fill)));
    const notes = [
      `Fastify. The account fills while the service answers at once. Then the service works on ${WORKERS} requests of ${LATENCY_MS} ms at a time, ${CAPACITY.toFixed(1)} a second.`,
      `Known users come at a fifth of that, and junk at three times, for ${FLOOD_MS / 1_000} s; who has no answer after ${PATIENCE_MS / 1_000} s has gone.`,
    ];
    return { findings, notes };
  },
};

async function findingsOf(stage: Stage, fill: (typeof FILLS)[number]): Promise<Finding[]> {
  const service = await stage.service({ latencyMs: LATENCY_MS, workers: WORKERS });
  const app = await stage.app({ platform: 'Fastify', variant: 'ours', serviceUrl: service.url });
  const worker = stage.worker<FloodApi>('flood');
  const order = { url: `${app.url}/openings`, header: 'x-auth-token', patienceMs: PATIENCE_MS };
  const before = await worker.call('flood', { ...order, durationMs: 6_000, callers: { known: KNOWN } });
  assert.deepEqual(
    before.known?.replies,
    { 200: before.known?.asked },
    'every known user is let in before the flood',
  );
  await service.worker.call('answerIn', 1);
  if (fill === 'one account with checks') await present(stage, app.url);
  if (fill === 'one account with sign-ins') await app.worker.call('signIn', SESSIONS);
  await service.worker.call('answerIn', LATENCY_MS);
  await service.worker.call('takeCalls');
  const callers = { known: KNOWN, junk: JUNK };
  const { known, junk } = await worker.call('flood', { ...order, durationMs: FLOOD_MS, callers });
  const { user = 0, random = 0 } = await service.worker.call('takeCalls');
  await stage.close();
  assert.ok(known && junk, 'both kinds were sent');
  return [
    {
      subject: `${fill}: known users served`,
      unit: 'ratio',
      value: estimateOf([(known.replies[200] ?? 0) / known.asked]),
      calls: `${user} for ${known.asked}`,
      ...(fill !== 'no other account' && { target: atLeast(0.99) }),
    },
    {
      subject: `${fill}: known users waited`,
      unit: 'ms',
      value: estimateOf(known.waitsMs),
      calls: `${random} for ${junk.asked} of junk`,
    },
  ];
}

/** Sends one request with each session of the account. */
async function present(stage: Stage, url: string): Promise<void> {
  const [path, header, values] = ['/openings', 'x-auth-token', tokens('useraccount', SESSIONS)];
  const requests = SESSIONS / CONNECTIONS;
  await stage.load().call('timeEach', { url, path, header, values, connections: CONNECTIONS, requests });
}
