import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { jest } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const e2e = jest.projects.find(({ displayName }) => displayName === 'e2e');

export default {
  rootDir: root,
  testTimeout: jest.testTimeout,
  projects: [{ ...e2e, rootDir: root, displayName: 'nest-11', resolver: fileURLToPath(new URL('resolve-nest-11.cjs', import.meta.url)) }],
};
