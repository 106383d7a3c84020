import assert from 'node:assert/strict';
import type { LoadApi } from '../processes/load.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { ratios, spreadOf } from '../spread.js';
import type { RunningApp, Stage } from '../stage.js';
import { atMost } from '../target.js';
import { tokens } from '../users.js';

const DELAY_MS = 5;
const ROUNDS = 20;
/** Few, so that no request waits for another one. */
const CONNECTIONS = 4;
const REQUESTS = 60;
const HEADER = { path: '/openings', header: 'x-auth-token', values: tokens('user', CONNECTIONS * REQUESTS) };

const OURS = 'nestjs-session-auth';
const LIMIT = 'limit: undici in a bare guard';

/** Measures the latency that the guard adds to a request when the network is slower than the machine. */
export const distantService: Question = {
  name: 'distant-service',
  title: `Median latency of a request when the service is ${DELAY_MS} ms away (cache off)`,
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const platform of ['Fastify', 'Express'] as const)
      findings.push(...(await findingsOn(platform, stage)));
    return {
      findings,
      notes: [
        `${CONNECTIONS} requests at a time, each with another token. A proxy in a process of its own delays each reply.`,
      ],
    };
  },
};

async function findingsOn(platform: 'Express' | 'Fastify', stage: Stage): Promise<Finding[]> {
  const service = await stage.service();
  const serviceUrl = await stage.delayReplies(service.url, DELAY_MS);
  const load = stage.load();
  const ours = await stage.app({ platform, variant: 'ours', serviceUrl });
  const bare = await stage.app({ platform, variant: 'undiciDispatch', serviceUrl });
  const [ownMs, bareMs]: [number[], number[]] = [[], []];
  // The first round warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured = [await medianMs(load, ours), await medianMs(load, bare)] as const;
    if (round > 0)
      for (const [index, times] of [ownMs, bareMs].entries()) times.push(measured[index as 0 | 1]);
  }
  await stage.close();
  return [
    { subject: `${platform}: ${OURS}`, unit: 'ms', value: spreadOf(ownMs) },
    { subject: `${platform}: ${LIMIT}`, unit: 'ms', value: spreadOf(bareMs) },
    {
      subject: `${platform}: ${OURS}`,
      against: LIMIT,
      unit: 'ratio',
      value: ratios(ownMs, bareMs),
      target: atMost(1.03),
    },
  ];
}

async function medianMs(load: Worker<LoadApi>, { url }: RunningApp): Promise<number> {
  const times = await load.call('timeEach', { ...HEADER, url, connections: CONNECTIONS, requests: REQUESTS });
  const { median, min } = spreadOf(times);
  assert.ok(min >= DELAY_MS - 1, 'every reply is delayed');
  return median;
}
