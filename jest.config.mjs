import { availableParallelism, totalmem } from 'node:os';
import { base, project } from './test/jest.base.mjs';

/** The memory limit of a worker: each suite that it runs leaves some of its modules in memory. */
const WORKER_BYTES = 2 * 1024 ** 3;
/** Suites wait for servers and timers longer than they compute. */
const workers = Math.min(2 * availableParallelism() + 1, Math.floor(totalmem() / WORKER_BYTES));

/**
 * Suites that start a database, a proxy, many services, several instances, or whole applications as processes.
 * `npm test` leaves them to `.ci/run`.
 */
const SURROUNDINGS = [
  'commands/command',
  'commands/doctor-servers',
  'demo/process',
  'demo/story',
  'fleet/ends-that-arrive',
  'fleet/failures',
  'fleet/redis-store/guide',
  'fleet/redis-store/subscription',
  'fleet/writers',
  'graphql/two-services',
  'graphql/upgrade-headers',
  'lanes/one-account',
  'module/shutdown',
  'module/two-copies',
  'open/another-instance',
  'open/behind-nginx',
  'open/event-source',
  'operations/every-cause',
  'revocation/forgotten-users',
  'revocation/sign-out-in-a-fleet',
  'secrets/store',
  'service/scripts',
  'session-service/contract',
  'session-service/sign-ins',
  'simulation/simulation',
];

/**
 * Suites of what changes seldom, or of which a shorter one finds nearly the same. `.ci/run` leaves them to the
 * weekly long form, LONG_TESTS=1.
 */
export const WEEKLY = [
  // `token/cross-origin-cookies` and the specs of origins have the headers that Chromium sends here.
  'browsers/two-origins',
  // Each place where code of the application runs has suites of its own; here, it throws whatever can be thrown.
  'check/application-code',
  // `session-service/contract` has the rows of the interface; here, a service breaks each of them.
  'commands/contract',
  // `npm start` of the README; the page is no part of the library. `demo/story` has its scenes.
  'demo/page',
  'demo/console',
  'demo/settings',
  'demo/streams',
  // The workflow `long` runs both for longer.
  'fuzz/handshakes',
  'fuzz/wire-to-verdict',
  // `messages/transports` has the same messages over TCP and gRPC.
  'messages/kafka',
  'messages/rabbitmq',
  // The schematic is a program of its own, which changes seldom.
  'nest-add/project',
  'nest-add/where',
  // A guide, with PostgreSQL.
  'operations/audit-trail',
  // `secrets/store` and the specs of what is kept have the digests.
  'secrets/heap',
  // The reference service changes seldom, and `session-service/contract` tries it.
  'session-service/openapi',
  'session-service/reference-service',
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
