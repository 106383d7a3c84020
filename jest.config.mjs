import { availableParallelism, totalmem } from 'node:os';
import { base, project } from './test/jest.base.mjs';

/** The memory limit of a worker: each suite that it runs leaves some of its modules in memory. */
const WORKER_BYTES = 2 * 1024 ** 3;
/** Suites wait for servers and timers longer than they compute. */
const workers = Math.min(2 * availableParallelism() + 1, Math.floor(totalmem() / WORKER_BYTES));

/**
 * Suites that start a browser, a database, a cluster, a proxy, many services, or whole applications as
 * processes. `npm test` leaves them to `.ci/run`.
 */
const SURROUNDINGS = [
  'browsers/two-origins',
  'check/long-bodies',
  'commands/contract',
  'demo/page',
  'demo/process',
  'fleet/clocks-and-versions',
  'fleet/clocks-that-step',
  'fleet/cluster',
  'fleet/ends-that-arrive',
  'fleet/failures',
  'fleet/redis-store/guide',
  'fleet/redis-store/subscription',
  'graphql/upgrade-headers',
  'messages/kafka',
  'messages/rabbitmq',
  'module/shutdown',
  'nest-add/project',
  'nest-add/where',
  'open/behind-nginx',
  'open/event-source',
  'operations/audit-trail',
  'operations/rolling-deploy',
  'secrets/heap',
  'session-service/postgres-instances',
  'session-service/postgres-storage',
  'session-service/reference-service',
  'simulation/simulation',
];

export default {
  ...base,
  maxWorkers: Math.max(workers, 2),
  testSequencer: '<rootDir>/test/longest-first.mjs',
  projects: [
    project('unit', '{libs,apps}/*/src/**/*.spec.ts'),
    project('e2e', 'test/**/*.e2e-spec.ts', {
      testPathIgnorePatterns: ['/node_modules/', ...SURROUNDINGS.map((name) => `/test/${name}[.]e2e-spec`)],
    }),
    project('surroundings', `test/{${SURROUNDINGS.join()}}.e2e-spec.ts`),
    project('contract', 'test/session-service/contract.e2e-spec.ts'),
  ],
};
