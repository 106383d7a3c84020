import { fileURLToPath } from 'node:url';
import { base, project } from '../jest.base.mjs';

const resolver = fileURLToPath(new URL('resolve-nest-11.cjs', import.meta.url));

export default { ...base, projects: [project('nest-11', 'test/**/*.e2e-spec.ts', { resolver })] };
