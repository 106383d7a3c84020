// Compiles the benchmarks, and first the library if its sources are newer than its build; then runs them.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (...command) => execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' });

const newest = (folder) =>
  Math.max(...readdirSync(folder, { recursive: true }).map((file) => statSync(`${folder}/${file}`).mtimeMs));
const sources = `${root}libs/session-auth/src`;
const built = `${root}libs/session-auth/dist`;
if (!existsSync(`${built}/cjs/package.json`) || newest(sources) > newest(built))
  run('libs/session-auth/build.mjs');

rmSync(`${root}dist/bench`, { recursive: true, force: true });
run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-p', 'bench/tsconfig.bench.json');
await import('../dist/bench/main.js');
// A question alone writes nothing.
if (process.argv.length === 2) await import('./fleet-simulation/run.mjs');
