// Tests the unit specs: Stryker changes the library in thousands of ways, one at a time. For each change, a spec must fail.
// `npm run test:mutation -- contract guard/session` tests some folders. MUTATION_FOLDER keeps what is installed, MUTATION_CONCURRENCY runs more at a time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../package/steps.mjs';
import { FOLDERS } from './folders.mjs';
import { report } from './report.mjs';

const STRYKER = '9.6.1';
const root = fileURLToPath(new URL('../../', import.meta.url));
const chosen = process.argv.slice(2);
const folders = chosen.length > 0 ? chosen : Object.keys(FOLDERS);
for (const folder of folders)
  if (!existsSync(join(root, 'libs/session-auth/src', folder))) throw new Error(`${folder} is no folder of the library`);

const kept = process.env.MUTATION_FOLDER;
const home = kept ?? mkdtempSync(join(tmpdir(), 'session-auth-mutation-'));
try {
  await runStryker();
} finally {
  if (!kept) rmSync(home, { recursive: true, force: true });
}
if (!report(join(root, 'dist/mutation/mutants.json'), folders)) process.exitCode = 1;

/** Installed for the run, because the library needs 160 packages more than the workspace. */
async function runStryker() {
  const program = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (!existsSync(program)) await install(home, { dependencies: { '@stryker-mutator/core': STRYKER } });
  const { status } = spawnSync(process.execPath, [program, 'run', 'test/mutation/stryker.config.mjs'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, MUTATED: folders.join(',') },
  });
  if (status !== 0) throw new Error(`Stryker ended with ${status}`);
}
