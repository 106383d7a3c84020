import assert from 'node:assert/strict';
import { issueCertificate } from '../certificate.js';
import type { UncachedCheckApi } from '../processes/uncached-check.worker.js';
import type { Finding, Question } from '../question.js';
import { ratios, spreadOf } from '../spread.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import type { VariantName } from '../variants/variants.js';

const HEATS = 3;
const ROUNDS = 4;

const NAMES = {
  ours: 'nestjs-session-auth',
  undiciDispatch: 'limit: undici in a bare guard',
} as const satisfies Partial<Record<VariantName, string>>;

type Times = Record<keyof typeof NAMES, number[]>;

/** Measures the cost of the guard when it calls the service, without an application's own HTTP. */
export const uncachedCheck: Question = {
  name: 'uncached-check',
  title: 'One check of an uncached session inside the process: guard.canActivate()',
  ask: async (stage) => ({
    findings: [
      ...findingsOf('HTTP', await timesOf(stage, false), 0.85),
      ...findingsOf('TLS', await timesOf(stage, true), 0.95),
    ],
    notes: [
      'Processor time of the process that checks; the service is in another. 32 checks at a time, each of another session, over open connections.',
    ],
  }),
};

async function timesOf(stage: Stage, overTls: boolean): Promise<Times> {
  const times: Times = { ours: [], undiciDispatch: [] };
  for (let heat = 0; heat < HEATS; heat += 1) {
    await runHeat(stage, overTls, times);
    await stage.close();
  }
  return times;
}

async function runHeat(stage: Stage, overTls: boolean, times: Times): Promise<void> {
  const file = overTls ? stage.keep(issueCertificate()) : undefined;
  const service = await stage.service(file && { certificate: file.certificate });
  const variants = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const workers = variants.map((variant) => ({
    variant,
    worker: stage.worker<UncachedCheckApi>(
      'uncached-check',
      file && { env: { NODE_EXTRA_CA_CERTS: file.path } },
    ),
  }));
  for (const { variant, worker } of workers) await worker.call('start', { variant, serviceUrl: service.url });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { variant, worker } of round % 2 === 0 ? workers : workers.toReversed()) {
      await service.worker.call('takeCalls');
      times[variant].push(await worker.call('run'));
      const { user } = await service.worker.call('takeCalls');
      assert.equal(user, await worker.call('checks'), 'every check is a call');
    }
  }
}

function findingsOf(protocol: string, { ours, undiciDispatch }: Times, least: number): Finding[] {
  const time = (variant: keyof typeof NAMES, values: readonly number[]): Finding => ({
    subject: `${protocol}: ${NAMES[variant]}`,
    unit: 'us',
    value: spreadOf(values),
  });
  return [
    time('ours', ours),
    time('undiciDispatch', undiciDispatch),
    {
      subject: `${protocol}: ${NAMES.undiciDispatch}`,
      against: NAMES.ours,
      unit: 'ratio',
      value: ratios(undiciDispatch, ours),
      target: atLeast(least),
    },
  ];
}
