// Runs the checks that start no test, two at a time: the linter takes as long as all others together.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const LANES = [['lint'], ['types', 'layers', 'docs:code', 'docs:messages', 'docs:faults -- --check', 'docs:figures', 'docs:api']];

const failed = (await Promise.all(LANES.map(runInTurn))).flat();
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exit(1);
}

/** Runs scripts of package.json one after the other, and gives the names of those that fail. */
async function runInTurn(scripts) {
  const failing = [];
  for (const script of scripts) if (!(await run(script))) failing.push(script);
  return failing;
}

/** Prints what a script printed when it has ended, so that two do not mix. */
async function run(script) {
  const began = performance.now();
  const child = spawn(`npm run --silent ${script}`, { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const outcome = code === 0 ? 'holds' : `fails with exit code ${code}`;
  console.log(`${Buffer.concat(printed).toString()}check ${script}: ${outcome} (${Math.round((performance.now() - began) / 1000)} s)\n`);
  return code === 0;
}
