// Runs the checks that start no test, and the build, two at a time. `npm test` runs those that need no build
// (`--quick`), and `.ci/run` all, and `npm run docs:site`.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/**
 * The longest first. The build stays: tests of the built demo start it, and the package is packed from it.
 */
const SCRIPTS = [
  'build',
  'types',
  'lint',
  'lint:format',
  'layers',
  'lint:recipes',
  'lint:workflows',
  'docs:code',
  'types:package',
  'docs:messages',
  'docs:causes',
  'docs:defaults',
  'docs:faults -- --check',
  'docs:asvs',
  'docs:figures',
  'docs:words',
  'test:places',
  'budgets',
];
/** Checks that use what another one makes. */
const AFTER = { budgets: 'build', 'docs:code': 'build', 'types:package': 'build' };
const NOT_QUICK = new Set(['build', ...Object.keys(AFTER), 'lint:recipes', 'lint:workflows']);
/**
 * The linter reports errors of types too, by the compiler of TypeScript 7, and the build by the one of
 * package.json, which `types` runs on the tests too.
 */
const ONLY_LONG = new Set(['types']);
const runs = new Map();

const isQuick = process.argv.includes('--quick');
const isLong = process.env.LONG_TESTS === '1';
const scripts = SCRIPTS.filter(
  (script) => !(isQuick && NOT_QUICK.has(script)) && (isLong || !ONLY_LONG.has(script)),
);
const failed = (await Promise.all([runInTurn(), runInTurn()])).flat();
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exit(1);
}

/**
 * Takes scripts of package.json from the list until it is empty, and returns the names of those that fail.
 */
async function runInTurn() {
  const failing = [];
  for (let script = scripts.shift(); script !== undefined; script = scripts.shift()) {
    await runs.get(AFTER[script]);
    runs.set(script, run(script));
    if (!(await runs.get(script))) failing.push(script);
  }
  return failing;
}

/** Prints the output of a script after its end, so that two outputs do not mix. */
async function run(script) {
  const began = performance.now();
  const child = spawn(`npm run --silent ${script}`, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const outcome = code === 0 ? 'holds' : `fails with exit code ${code}`;
  console.log(
    `${Buffer.concat(printed).toString()}check ${script}: ${outcome} (${Math.round((performance.now() - began) / 1000)} s)\n`,
  );
  return code === 0;
}
