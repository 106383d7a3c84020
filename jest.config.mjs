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
  'check/application-code',
  'commands/command',
  'commands/contract',
  'demo/console',
  'demo/console-and-settings',
  'demo/page',
  'demo/process',
  'demo/streams',
  'fleet/clocks-and-versions',
  'fleet/cluster',
  'fleet/ends-that-arrive',
  'fleet/failures',
  'fleet/redis-store/guide',
  'fleet/redis-store/subscription',
  'fleet/shared-tier',
  'fuzz/handshakes',
  'fuzz/wire-to-verdict',
  'graphql/upgrade-headers',
  'messages/kafka',
  'messages/rabbitmq',
  'module/shutdown',
  'nest-add/project',
  'nest-add/where',
  'open/behind-nginx',
  'open/event-source',
  'operations/audit-trail',
  'operations/every-cause',
  'revocation/forgotten-users',
  'revocation/sign-out-in-a-fleet',
  'secrets/heap',
  'secrets/store',
  'service/scripts',
  'session-service/openapi',
  'session-service/reference-service',
  'session-service/sign-ins',
  'simulation/simulation',
];

/**
 * Suites that load or measure processes for long, or of which a shorter one finds nearly the same. `.ci/run`
 * leaves them to the weekly long form, LONG_TESTS=1.
 */
export const WEEKLY = [
  // The simulation has such clocks too.
  'fleet/clocks-that-step',
  // `check/bodies` has such bodies, and does not measure the memory.
  'check/long-bodies',
  // The specs of lanes have the limit, and `lanes/known-users` a flood of requests.
  'lanes/overload',
  // `module/shutdown` has the end of an instance.
  'operations/rolling-deploy',
  // `session-service/reference-service` has the other database.
  'session-service/postgres-instances',
  'session-service/postgres-storage',
];

const LATER = [...SURROUNDINGS, ...WEEKLY];

export default {
  ...base,
  maxWorkers: Math.max(workers, 2),
  testSequencer: '<rootDir>/test/longest-first.mjs',
  projects: [
    project('unit', '{libs,apps}/*/src/**/*.spec.ts'),
    project('e2e', 'test/**/*.e2e-spec.ts', {
      testPathIgnorePatterns: ['/node_modules/', ...LATER.map((name) => `/test/${name}[.]e2e-spec`)],
    }),
    project('surroundings', `test/{${SURROUNDINGS.join()}}.e2e-spec.ts`),
    project('weekly', `test/{${WEEKLY.join()}}.e2e-spec.ts`),
    project('contract', 'test/session-service/contract.e2e-spec.ts'),
  ],
};
