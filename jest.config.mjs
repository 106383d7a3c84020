import { base, project } from './test/jest.base.mjs';

export default {
  ...base,
  projects: [
    project('unit', '{libs,apps}/*/src/**/*.spec.ts'),
    project('e2e', 'test/**/*.e2e-spec.ts'),
    project('contract', 'test/session-service/contract.e2e-spec.ts'),
  ],
};
