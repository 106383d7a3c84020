import assert from 'node:assert/strict';
import { issueCertificate } from '../certificate.js';
import type { UncachedCheckApi } from '../processes/uncached-check.worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf, ratios } from '../estimate.js';
import { runHeats } from '../heats.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import type { VariantName } from '../variants/variants.js';

const ROUNDS = 10;

const NAMES = {
  ours: 'nestjs-session-auth',
  undiciDispatch: 'limit: undici in a bare guard',
} as const satisfies Partial<Record<VariantName, string>>;

/** Of each heat, the median of its rounds. */
type Times = Record<keyof typeof NAMES, number[]>;

/** Measures the cost of the guard when it calls the service, without an application's own HTTP. */
export const uncachedCheck: Question = {
  name: 'uncached-check',
  title: 'One check of an uncached session inside the process: guard.canActivate()',
  ask: async (stage) => ({
    findings: [
      ...findingsOf('HTTP', await timesOf(stage, false), 0.8),
      ...findingsOf('TLS', await timesOf(stage, true), 0.9),
    ],
    notes: [
      'Processor time of the process that checks; the service is in another. 32 checks at a time, each of another session, over open connections.',
    ],
  }),
};

async function timesOf(stage: Stage, overTls: boolean): Promise<Times> {
  const times: Times = { ours: [], undiciDispatch: [] };
  await runHeats(
    async () => {
      await runHeat(stage, overTls, times);
      await stage.close();
    },
    () => [ratios(times.undiciDispatch, times.ours)],
  );
  return times;
}

async function runHeat(stage: Stage, overTls: boolean, times: Times): Promise<void> {
  const file = overTls ? stage.keep(issueCertificate()) : undefined;
  const service = await stage.farEnd(file && { certificate: file.certificate });
  const variants = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const workers = variants.map((variant) => ({
    variant,
    worker: stage.worker<UncachedCheckApi>(
      'uncached-check',
      file && { env: { NODE_EXTRA_CA_CERTS: file.path } },
    ),
  }));
  for (const { variant, worker } of workers) await worker.call('start', { variant, serviceUrl: service.url });
  const rounds: Times = { ours: [], undiciDispatch: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { variant, worker } of round % 2 === 0 ? workers : workers.toReversed()) {
      await service.worker.call('takeCalls');
      rounds[variant].push(await worker.call('run'));
      const { user } = await service.worker.call('takeCalls');
      assert.equal(user, await worker.call('checks'), 'every check is a call');
    }
  }
  for (const variant of variants) times[variant].push(estimateOf(rounds[variant]).median);
}

function findingsOf(protocol: string, { ours, undiciDispatch }: Times, least: number): Finding[] {
  const time = (variant: keyof typeof NAMES, values: readonly number[]): Finding => ({
    subject: `${protocol}: ${NAMES[variant]}`,
    unit: 'us',
    value: estimateOf(values),
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
