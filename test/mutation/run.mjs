// Tests the tests: Stryker changes the library in thousands of ways, one at a time. For each change, a spec
// must fail, or an end-to-end test of a part that has no specs. `npm run test:mutation -- contract verifier`
// tests some folders. MUTATION_FOLDER keeps what is installed, MUTATION_CONCURRENCY runs more at a time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../package/steps.mjs';
import { FOLDERS, SUITES } from './folders.mjs';
import { report } from './report.mjs';

const STRYKER = '9.6.1';
const root = fileURLToPath(new URL('../../', import.meta.url));
const chosen = process.argv.slice(2);
const folders = chosen.length > 0 ? chosen : Object.keys(FOLDERS);
for (const folder of folders)
  if (!existsSync(join(root, 'libs/session-auth/src', folder)))
    throw new Error(`${folder} is no folder of the library`);

const kept = process.env.MUTATION_FOLDER;
const home = kept ?? mkdtempSync(join(tmpdir(), 'session-auth-mutation-'));
const files = {};
try {
  for (const group of groups()) Object.assign(files, await mutantsIn(group));
} finally {
  if (!kept) rmSync(home, { recursive: true, force: true });
}
if (!report(files, folders)) process.exitCode = 1;

/** The parts that have specs together, and each of the others with its end-to-end tests. */
function groups() {
  const hasSuites = (folder) => folder.split('/')[0] in SUITES;
  const withSpecs = folders.filter((folder) => !hasSuites(folder));
  return [
    ...(withSpecs.length > 0 ? [withSpecs] : []),
    ...folders.filter(hasSuites).map((folder) => [folder]),
  ];
}

/** Stryker is installed for the run, because it needs 160 packages more than the workspace. */
async function mutantsIn(group) {
  const program = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  if (!existsSync(program)) await install(home, { dependencies: { '@stryker-mutator/core': STRYKER } });
  const { status } = spawnSync(process.execPath, [program, 'run', 'test/mutation/stryker.config.mjs'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, MUTATED: group.join(',') },
  });
  if (status !== 0) throw new Error(`Stryker ended with ${status}`);
  return JSON.parse(readFileSync(join(root, 'dist/mutation/mutants.json'), 'utf8')).files;
}
