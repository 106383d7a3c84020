import { availableParallelism } from 'node:os';
import { base, project } from './test/jest.base.mjs';

export default {
  ...base,
  // Suites wait for servers and timers as much as they compute.
  maxWorkers: availableParallelism() + 1,
  testSequencer: '<rootDir>/test/longest-first.mjs',
  projects: [
    project('unit', '{libs,apps}/*/src/**/*.spec.ts'),
    project('e2e', 'test/**/*.e2e-spec.ts'),
    project('contract', 'test/session-service/contract.e2e-spec.ts'),
  ],
};
