// Compiles the soak, and first the library if its sources are newer than its build; then runs it. With
// --record, writes RESULTS.md.
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

rmSync(`${root}dist/soak`, { recursive: true, force: true });
run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-p', 'test/soak/tsconfig.soak.json');
const commit = commitOf(import.meta.url);
const { MINUTES, REQUESTS_PER_SECOND, rows, SEED } = await import('../../dist/soak/soak/main.js');
if (process.argv.includes('--record')) {
  const table = [['figure', ''], ['---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const body = `\`SOAK_MINUTES=${MINUTES} SOAK_RATE=${REQUESTS_PER_SECOND}\`\n\n${table}`;
  await recordRun(import.meta.url, {
    title: 'Results of the soak',
    command: 'npm run test:soak -- --record',
    commit,
    seed: SEED,
    body,
  });
}
