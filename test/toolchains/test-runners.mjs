// Test runners, each with a project of its own that has the packed library: the same application, tested by
// the same test (`test-project/`).
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMON, nestPackages } from '../package/dependencies.mjs';
import { ended, install } from '../package/steps.mjs';
import { theTarball } from '../package/tarball.mjs';
import { versionOf } from './projects.mjs';

export const PROJECT = fileURLToPath(new URL('test-project', import.meta.url));
export const TESTS = ['200', '401', '403', '503', 'injection', 'errors'];
export const COLUMNS = ['test runner', 'modules', 'NestJS', ...TESTS];

const MODULES = { module: 'ES modules', commonjs: 'CommonJS' };
const OF_TESTS = {
  '@types/jest': '^30.0.0',
  '@types/node': '^20.19.0',
  '@types/supertest': '^7.0.0',
  supertest: '^7.0.0',
  typescript: '6.0.3',
};

/** TypeScript imports files with the extension `.js`. */
const jest = (config) => ({
  args: '--experimental-vm-modules --no-warnings node_modules/jest/bin/jest.js --json --outputFile=report.json'.split(
    ' ',
  ),
  files: {
    'jest.config.mjs': `export default ${JSON.stringify({
      testRegex: '[.]test[.]ts$',
      moduleNameMapper: { '^([.]{1,2}/.*)[.]js$': '$1' },
      ...config,
    })};\n`,
  },
});
const vitest = (imports, plugins) => ({
  args: `node_modules/vitest/vitest.mjs run --reporter=default --reporter=json --outputFile.json=report.json`.split(
    ' ',
  ),
  files: {
    'vitest.config.mjs': `import { defineConfig } from 'vitest/config';
${imports}
export default defineConfig({ test: { globals: true, include: ['test/**/*.test.ts'] }, plugins: [${plugins}] });
`,
  },
});
const ESM = { extensionsToTreatAsEsm: ['.ts'] };
/** As Nest's documentation of SWC sets it. */
const SWC = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
  },
};
const [TS_JEST, SWC_JEST] = [
  { jest: '^30.0.0', 'ts-jest': '^29.4.0' },
  { jest: '^30.0.0', '@swc/jest': '^0.2.39', '@swc/core': '^1.15.0' },
];
const VITE_7 = { vitest: '^4.1.0', 'unplugin-swc': '^1.5.0', vite: '^7.0.0', '@swc/core': '^1.15.0' };

/** Each is a row. Its first packages are the tools that the row names. */
const RUNNERS = [
  { type: 'commonjs', major: 11, packages: TS_JEST, ...jest({ transform: { '[.]ts$': 'ts-jest' } }) },
  {
    type: 'module',
    major: 12,
    packages: TS_JEST,
    ...jest({ ...ESM, transform: { '[.]ts$': ['ts-jest', { useESM: true }] } }),
  },
  {
    type: 'commonjs',
    major: 11,
    packages: SWC_JEST,
    ...jest({ transform: { '[.]ts$': ['@swc/jest', SWC] } }),
  },
  {
    type: 'module',
    major: 12,
    packages: SWC_JEST,
    ...jest({ ...ESM, transform: { '[.]ts$': ['@swc/jest', { ...SWC, module: { type: 'es6' } }] } }),
  },
  {
    type: 'module',
    major: 12,
    packages: VITE_7,
    ...vitest("import swc from 'unplugin-swc';\n", "swc.vite({ module: { type: 'es6' } })"),
  },
  { type: 'module', major: 12, packages: { vitest: '^4.1.0', vite: '^8.0.0' }, ...vitest('', '') },
];
/** One of each kind of modules, for other projects. */
export const [COMMONJS, , , , , ES_MODULES] = RUNNERS;

export async function tryAll(folder) {
  const rows = [];
  for (const [index, runner] of RUNNERS.entries())
    rows.push(await tryRunner(runner, join(folder, `test-runner-${index}`)));
  return rows;
}

async function tryRunner(runner, folder) {
  const { type, packages } = runner;
  rmSync(join(folder, 'node_modules/nestjs-session-auth'), { recursive: true, force: true });
  await install(folder, { type, dependencies: dependenciesOf(runner) });
  layOut(runner, folder);
  const tools = Object.keys(packages).slice(0, 2);
  const cells = [
    tools.map((tool) => `${tool} ${versionOf(folder, tool)}`).join(', '),
    MODULES[type],
    versionOf(folder, '@nestjs/core'),
  ];
  return { cells, ...(await runTests(runner, folder)) };
}

/** The dependencies of a runner's project. */
export function dependenciesOf({ major, packages }) {
  const nest = nestPackages(`^${major}.0.0`, 'common', 'core', 'platform-express', 'testing');
  return { ...COMMON, ...OF_TESTS, ...nest, 'nestjs-session-auth': `file:${theTarball()}`, ...packages };
}

/** Writes the sources, and the configuration of the runner. */
export function layOut({ files }, folder) {
  cpSync(PROJECT, folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Runs the test. Vitest reports in the form of Jest. A runner that fails as a whole fails every test. */
export async function runTests({ args }, folder, packagesFolder = folder) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const { code, said } = await ended(
    folder,
    process.execPath,
    args.map((arg) => arg.replace(/^node_modules/, join(packagesFolder, '$&'))),
  );
  const tests = readReport(report).flatMap(({ assertionResults }) => assertionResults);
  const statusOf = (name) => tests.find(({ title }) => title === name)?.status ?? 'did not run';
  const outcomes = TESTS.map((name) => [
    name,
    statusOf(name) === 'passed' || `${statusOf(name)}, and the runner ended with ${code}`,
  ]);
  const failed = outcomes.every(([, outcome]) => outcome === true) && code !== 0;
  return { outcomes: failed ? failedWith(code) : Object.fromEntries(outcomes), said };
}

function failedWith(code) {
  return Object.fromEntries(TESTS.map((name) => [name, `the runner ended with ${code}`]));
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch {
    return [];
  }
}
