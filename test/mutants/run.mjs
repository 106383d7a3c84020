// Applies each bug to a copy of the tree, one at a time, and runs the suites that must find it. `npm run
// test:mutants -- 2/5` takes the second fifth; MUTANT=text takes those whose name holds it.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUGS } from '../simulation/bugs.mjs';
import { MUTANTS } from './mutants.mjs';
import { splitAt } from './places.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['apps', 'libs', 'test', 'jest.config.mjs', 'package.json', 'tsconfig.json'];
/** A run that takes longer does not end: its tests wait for something that the mutant prevents. */
const LIMIT_MS = 240_000;
const LEFT_OUT = /[/](?:node_modules|dist)(?:[/]|$)/;

const all = [...MUTANTS, ...BUGS];
const [part, parts] = (process.argv.find((arg) => /^\d+\/\d+$/.test(arg)) ?? '1/1').split('/').map(Number);
const chosen = all
  .filter(({ name }) => name.includes(process.env.MUTANT ?? ''))
  .filter((_, index) => index % parts === part - 1);
const tree = mkdtempSync(join(tmpdir(), 'mutants-'));
process.once('exit', () => rmSync(tree, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
for (const name of COPIED) {
  cpSync(join(root, name), join(tree, name), {
    recursive: true,
    filter: (path) => !LEFT_OUT.test(path.slice(root.length - 1)),
  });
}
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
mkdirSync(join(root, 'dist/transpiled'), { recursive: true });
mkdirSync(join(tree, 'dist'));
symlinkSync(join(root, 'dist/transpiled'), join(tree, 'dist/transpiled'));

// A suite that fails without a bug finds every one of them. --sound says that all have just passed: parts of
// one run need to see it once.
const isShown = process.argv.includes('--sound');
const unsound = isShown ? new Set() : unsoundSuites([...new Set(chosen.flatMap(({ suites }) => suites))]);
const outcomes = chosen.map((bug) => {
  const { kind, tests = [] } = outcomeOf(bug);
  console.log([`${kind}: ${bug.name}`, ...tests].join('\n    '));
  return kind;
});
const found = outcomes.filter((kind) => kind === 'found').length;
console.log(`${found} of ${chosen.length} bugs found`);
if (chosen.length === 0 || found < chosen.length) process.exitCode = 1;

function outcomeOf({ file, find, replace, suites, every = false }) {
  const failing = suites.filter((suite) => unsound.has(suite));
  if (failing.length > 0) return { kind: `not tried, because ${failing.join(', ')} fails without it` };
  const path = join(tree, 'libs/session-auth/src', file);
  const source = readFileSync(path, 'utf8');
  const pieces = splitAt(source, find);
  if (pieces.length !== 2) return { kind: `not tried, because its place occurs ${pieces.length - 1} times` };
  writeFileSync(path, pieces.join(replace));
  try {
    const found = [];
    for (const suite of suites) {
      const { tests = [], isEndless, report } = run([suite], LIMIT_MS);
      if (
        !isEndless &&
        (!report ||
          report.numRuntimeErrorTestSuites > 0 ||
          report.numPassedTests + report.numFailedTests === 0)
      )
        return { kind: `not tried: ${suite} does not load` };
      if (!isEndless && tests.length === 0 && every) return { kind: `SURVIVED in ${suite}` };
      found.push(...(isEndless ? [`${suite} does not end`] : tests));
      if (found.length > 0 && !every) break;
    }
    return found.length > 0 ? { kind: 'found', tests: found } : { kind: 'SURVIVED' };
  } finally {
    writeFileSync(path, source);
  }
}

function unsoundSuites(suites) {
  const { report } = run(suites);
  const passed = (suite) =>
    report?.testResults.some(
      // Jest calls a suite 'focused' that skips some of its tests.
      ({ name, status }) => ['passed', 'focused'].includes(status) && name === fileOf(suite),
    );
  return new Set(suites.filter((suite) => !passed(suite)));
}

/** An end-to-end test by its place below `test`, or else a spec by its place below the sources. */
function fileOf(suite) {
  const endToEnd = join(tree, 'test', `${suite}.e2e-spec.ts`);
  return existsSync(endToEnd) ? endToEnd : join(tree, 'libs/session-auth/src', `${suite}.spec.ts`);
}

/**
 * Runs these suites. Returns the report, which is absent if they do not load, and the names of the tests that
 * fail.
 */
function run(suites, timeout) {
  const path = join(tree, 'report.json');
  rmSync(path, { force: true });
  const { error } = spawnSync(
    process.execPath,
    [
      ...[
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
      ],
      ...['--runTestsByPath', ...suites.map(fileOf), '--runInBand', '--forceExit'],
      ...['--json', '--outputFile', path],
    ],
    { cwd: tree, stdio: 'ignore', timeout, killSignal: 'SIGKILL' },
  );
  if (error?.code === 'ETIMEDOUT') return { isEndless: true };
  if (!existsSync(path)) return {};
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const tests = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  return { report, tests: tests.map(({ fullName }) => fullName) };
}
