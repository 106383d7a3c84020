// Settings of every Jest project here: TypeScript as modules, and the packages of the workspace by their
// current sources.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8'));

/** The names that the compiler resolves to sources, so that they are written down once. */
const sources = Object.entries(compilerOptions.paths).map(([name, [source]]) => [
  `^${name}$`,
  source.replace(/^[.]/, '<rootDir>'),
]);

/**
 * Packages of some hundred files that bring one file with all of them: every suite loads its own copy of its
 * packages.
 */
const ONE_FILE = {
  '^class-validator$': '<rootDir>/node_modules/class-validator/bundles/class-validator.umd.js',
};

export const base = {
  rootDir: root,
  testTimeout: 300_000,
  globalSetup: '<rootDir>/test/transpile-library.mjs',
};

/** A project from its name, the files of its tests below the root, and further settings. */
export function project(displayName, testMatch, settings = {}) {
  return {
    rootDir: root,
    displayName,
    testMatch: [`<rootDir>/${testMatch}`],
    testEnvironment: '<rootDir>/test/compiled-once.mjs',
    extensionsToTreatAsEsm: ['.ts'],
    transform: { '^.+\\.ts$': '<rootDir>/test/transpiled.mjs' },
    moduleNameMapper: { ...Object.fromEntries(sources), ...ONE_FILE, '^(\\.{1,2}/.*)\\.js$': '$1' },
    ...settings,
  };
}
