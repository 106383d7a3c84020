import { availableParallelism, totalmem } from 'node:os';
import { base, project } from './test/jest.base.mjs';

/** The memory limit of a worker: each suite that it runs leaves some of its modules in memory. */
const WORKER_BYTES = 2 * 1024 ** 3;
/** Suites wait for servers and timers longer than they compute. */
const workers = Math.min(2 * availableParallelism() + 1, Math.floor(totalmem() / WORKER_BYTES));

export default {
  ...base,
  maxWorkers: Math.max(workers, 2),
  testSequencer: '<rootDir>/test/longest-first.mjs',
  projects: [
    project('unit', '{libs,apps}/*/src/**/*.spec.ts'),
    project('e2e', 'test/**/*.e2e-spec.ts'),
    project('contract', 'test/session-service/contract.e2e-spec.ts'),
  ],
};
