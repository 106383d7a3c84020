import assert from 'node:assert/strict';
import type { LoadApi } from '../processes/load.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { RunningService, Stage } from '../stage.js';
import { atMost } from '../target.js';
import { token } from '../users.js';
import { findNginx, startNginx } from '../variants/nginx.js';
import { keycloakRealm, type KeycloakRealm } from '../variants/realm.js';
import { LONG_CACHE } from '../variants/variant.js';
import type { VariantName } from '../variants/variants.js';

const REQUESTS = 1_000;
const ROUNDS = 2;
/** Long enough that all requests arrive before the first answer. */
const LATENCY_MS = 300;

const CACHED: readonly (readonly [VariantName, string])[] = [
  ['ours', 'nestjs-session-auth, cache on'],
  ['handWritten', 'hand-written guard with a Map'],
  ['passport', '@nestjs/passport with a Map'],
];
const UNCACHED: readonly (readonly [VariantName, string])[] = [
  ['ours', 'nestjs-session-auth, cache off'],
  ['handWritten', 'hand-written guard'],
  ['keycloak', 'nest-keycloak-connect, online'],
  ['undiciDispatch', 'undici in a bare guard'],
];

/** Measures the calls for many concurrent requests of one session. */
export const stampede: Question = {
  name: 'stampede',
  title: `Calls to the service for ${REQUESTS} concurrent requests of one cold token`,
  ask: async (stage) => {
    const service = await stage.service({ latencyMs: LATENCY_MS });
    const crowd: Crowd = { service, load: stage.load(), realm: keycloakRealm(service.url, ROUNDS) };
    const findings: Finding[] = [];
    for (const [variant, name] of CACHED) findings.push(await rush(stage, crowd, variant, name, true));
    findings.push(...(await rushNginx(stage, crowd)));
    for (const [variant, name] of UNCACHED) findings.push(await rush(stage, crowd, variant, name, false));
    return {
      findings,
      notes: [`Fastify. The service takes ${LATENCY_MS} ms. ${ROUNDS} rounds, each with another token.`],
    };
  },
};

interface Crowd {
  readonly service: RunningService;
  readonly load: Worker<LoadApi>;
  readonly realm: KeycloakRealm;
}

async function rush(
  stage: Stage,
  crowd: Crowd,
  variant: VariantName,
  name: string,
  cached: boolean,
): Promise<Finding> {
  const setup = {
    serviceUrl: crowd.service.url,
    realmPublicKey: crowd.realm.publicKey,
    ...(cached && { cache: LONG_CACHE }),
  };
  const app = await stage.app({ platform: 'Fastify', variant, ...setup });
  const counts = await countCalls(crowd, app.url, variant);
  await app.worker.stop();
  return findingOf(name, counts, variant === 'ours');
}

async function rushNginx(stage: Stage, crowd: Crowd): Promise<Finding[]> {
  const program = findNginx();
  if (program === undefined) return [];
  const app = await stage.app({ platform: 'Fastify', variant: 'unguarded', serviceUrl: crowd.service.url });
  const nginx = stage.keep(await startNginx(program, app.url, crowd.service.url));
  return [
    findingOf('nginx auth_request with proxy_cache', await countCalls(crowd, nginx.url, 'unguarded'), false),
  ];
}

async function countCalls(
  { service, load, realm }: Crowd,
  url: string,
  variant: VariantName,
): Promise<number[]> {
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const presented =
      variant === 'keycloak'
        ? { header: 'authorization', values: [realm.bearers[round] ?? ''] }
        : { header: 'x-auth-token', values: [token('user', round)] };
    await service.worker.call('takeCalls');
    const { replies } = await load.call('sendOnce', {
      url,
      path: '/openings',
      ...presented,
      connections: REQUESTS,
    });
    assert.deepEqual(replies, { 200: REQUESTS });
    counts.push((await service.worker.call('takeCalls')).user ?? 0);
  }
  return counts;
}

function findingOf(subject: string, counts: readonly number[], judged: boolean): Finding {
  return { subject, unit: 'calls', value: estimateOf(counts), ...(judged && { target: atMost(1) }) };
}
