// Compiles the observer, and first the library if its sources are newer than its build; then runs the
// observer. With --record, writes RESULTS.md.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { commitOf, recordRun } from '../../tools/record-run.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (...command) => execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' });

const newest = (folder) =>
  Math.max(...readdirSync(folder, { recursive: true }).map((file) => statSync(`${folder}/${file}`).mtimeMs));
const built = `${root}libs/session-auth/dist`;
if (!existsSync(`${built}/cjs/package.json`) || newest(`${root}libs/session-auth/src`) > newest(built))
  run('libs/session-auth/build.mjs');

rmSync(`${root}dist/observer`, { recursive: true, force: true });
run(
  createRequire(import.meta.url).resolve('typescript/bin/tsc'),
  '-p',
  'bench/observer/tsconfig.observer.json',
);
const commit = commitOf(import.meta.url);
const { results, seed } = await import('../../dist/observer/bench/observer/main.js');
if (results !== undefined) {
  const title = 'The observer: acceptances of a real fleet, held against the documented bounds';
  await recordRun(import.meta.url, {
    title,
    command: 'npm run bench:observer -- --record',
    commit,
    seed,
    body: results,
  });
}
