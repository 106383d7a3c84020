import { fileURLToPath } from 'node:url';

/** Everything that a run writes is below `dist`, which git does not keep. */
const OUTPUT = 'dist/mutation';

export default {
  mutate: (process.env.MUTATED ?? 'contract')
    .split(',')
    .map((part) => `libs/session-auth/src/${part}/**/*.ts`)
    .concat('!**/*.spec.ts', '!**/*.d.ts'),
  plugins: [fileURLToPath(new URL('plugin.mjs', import.meta.url))],
  testRunner: 'specs',
  ignorers: ['texts'],
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 1),
  timeoutMS: 4000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 10,
  ignorePatterns: ['**', '!/libs/session-auth/src/**', '!/package.json'],
  tempDirName: `${OUTPUT}/work`,
  incremental: true,
  incrementalFile: `${OUTPUT}/incremental.json`,
  reporters: ['json', 'html', 'progress-append-only'],
  jsonReporter: { fileName: `${OUTPUT}/mutants.json` },
  htmlReporter: { fileName: `${OUTPUT}/index.html` },
  tsconfigFile: 'none',
  disableTypeChecks: false,
  checkers: [],
  allowConsoleColors: false,
  cleanTempDir: 'always',
};
