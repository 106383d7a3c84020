import { fileURLToPath } from 'node:url';
import { SUITES } from './folders.mjs';

/** Everything that a run writes is below `dist`, which git does not keep. */
const OUTPUT = 'dist/mutation';
const SOURCES = 'libs/session-auth/src';
const parts = (process.env.MUTATED ?? '').split(',');
const [part] = parts[0].split('/');

export default {
  mutate: [
    ...parts.map((part) => `${SOURCES}/${part.endsWith('.ts') ? part : `${part}/**/*.ts`}`),
    '!**/*.spec.ts',
    '!**/*.d.ts',
  ],
  plugins: [fileURLToPath(new URL('plugin.mjs', import.meta.url))],
  testRunner: 'specs',
  ignorers: ['texts'],
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 1),
  timeoutMS: 4000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 10,
  ignorePatterns: ['**', `!/${SOURCES}/**`, '!/test/**', '!/apps/session-service/src/**'],
  tempDirName: `${OUTPUT}/work`,
  incremental: true,
  incrementalFile: `${OUTPUT}/incremental-${part in SUITES ? part : 'specs'}.json`,
  reporters: ['json', 'html', 'progress-append-only'],
  jsonReporter: { fileName: `${OUTPUT}/mutants.json` },
  htmlReporter: { fileName: `${OUTPUT}/index.html` },
  tsconfigFile: 'none',
  disableTypeChecks: false,
  checkers: [],
  allowConsoleColors: false,
  cleanTempDir: 'always',
};
