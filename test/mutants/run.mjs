// Applies each mutant to a copy of the tree, one at a time, and runs the suites that must kill it. MUTANT=text chooses those whose name holds it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from './mutants.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['apps', 'libs', 'test', 'jest.config.mjs', 'package.json', 'tsconfig.json'];
/** A run that takes longer does not end: its tests wait for something that the mutant prevents. */
const LIMIT_MS = 600_000;
const LEFT_OUT = /[/](?:node_modules|dist)(?:[/]|$)/;

const chosen = MUTANTS.filter(({ name }) => name.includes(process.env.MUTANT ?? ''));
const tree = mkdtempSync(join(tmpdir(), 'mutants-'));
process.once('exit', () => rmSync(tree, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
for (const name of COPIED) {
  cpSync(join(root, name), join(tree, name), { recursive: true, filter: (path) => !LEFT_OUT.test(path.slice(root.length - 1)) });
}
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));

// A suite that fails without a mutant kills every one of them.
const sound = new Set([...new Set(chosen.flatMap(({ suites }) => suites))].filter((suite) => run([suite]).outcome === 'passed'));
const outcomes = chosen.map((mutant) => {
  const outcome = outcomeOf(mutant);
  console.log(`${outcome}: ${mutant.name}`);
  return outcome;
});
const killed = outcomes.filter((outcome) => outcome === 'killed').length;
console.log(`${killed} of ${chosen.length} mutants killed`);
if (chosen.length === 0 || killed < chosen.length) process.exitCode = 1;

function outcomeOf({ file, find, replace, suites }) {
  const unsound = suites.filter((suite) => !sound.has(suite));
  if (unsound.length > 0) return `not tried, because ${unsound.join(', ')} fails without it`;
  const path = join(tree, 'libs/session-auth/src', file);
  const source = readFileSync(path, 'utf8');
  const parts = source.split(find);
  if (parts.length !== 2) return `not tried, because its place occurs ${parts.length - 1} times`;
  writeFileSync(path, parts.join(replace));
  const { outcome } = run(suites);
  writeFileSync(path, source);
  return { passed: 'SURVIVED', failed: 'killed', endless: 'killed' }[outcome] ?? 'not tried, because a suite does not load with it';
}

/** Whether the tests of these suites passed, or did not end; a suite that does not load shows nothing. */
function run(suites) {
  const report = join(tree, 'report.json');
  rmSync(report, { force: true });
  const patterns = suites.map((suite) => `/test/${suite}[.]e2e-spec[.]ts$`);
  const { error } = spawnSync(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
      ...[...patterns, '--selectProjects', 'e2e', '--runInBand', '--forceExit', '--json', '--outputFile', report],
    ],
    { cwd: tree, stdio: 'ignore', timeout: LIMIT_MS, killSignal: 'SIGKILL' },
  );
  if (error?.code === 'ETIMEDOUT') return { outcome: 'endless' };
  if (!existsSync(report)) return { outcome: 'broken' };
  const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
  if (numFailedTests > 0) return { outcome: 'failed' };
  return { outcome: numRuntimeErrorTestSuites > 0 || numPassedTests === 0 ? 'broken' : 'passed' };
}
