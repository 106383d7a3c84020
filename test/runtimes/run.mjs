// Runs the packed library (`npm run pack`) on every runtime, in every module format and on every adapter.
// Prints a table of the results. `npm run test:runtimes -- bun` runs one runtime. A run of all writes
// docs/compatibility.md. RUNTIMES_FOLDER keeps the installed runtimes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { COMMON, nestPackages } from '../package/dependencies.mjs';
import { install } from '../package/steps.mjs';
import { theTarball } from '../package/tarball.mjs';
import { transpile, versionOf } from '../toolchains/projects.mjs';
import { installRuntimes } from './installing.mjs';
import { failuresOf, tableOf, writeSection } from './compatibility-page.mjs';
import { CHECKS, tryOut } from './trial.mjs';

const PLATFORMS = { express: 'Express', fastify: 'Fastify' };

/** Each is one installed application. */
const FORMATS = [
  { label: 'ES modules', type: 'module', nest: '12' },
  { label: 'CommonJS', type: 'commonjs', nest: '12' },
  { label: 'CommonJS', type: 'commonjs', nest: '11' },
];

const [filter = ''] = process.argv.slice(2);
const kept = process.env.RUNTIMES_FOLDER;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'session-auth-runtimes-'));
let rows;
try {
  const runtimes = await installRuntimes(folder, filter);
  const apps = await Promise.all(FORMATS.map(layOut));
  rows = await tryAll(runtimes, apps);
} finally {
  if (!kept) rmSync(folder, { recursive: true, force: true });
}

const failures = rows.flatMap(failuresOf);
const table = tableOf(['runtime', 'modules', 'NestJS', 'adapter', ...Object.keys(CHECKS)], rows);
console.log(table);
for (const failure of failures) console.error(failure);
if (filter === '') await writeSection('runtimes', table);
if (rows.length === 0 || failures.length > 0) process.exitCode = 1;

/** Writes and installs the application in one format. */
async function layOut({ label, type, nest }) {
  const home = join(folder, `${type}-nest-${nest}`);
  const packages = nestPackages(`^${nest}.0.0`, 'common', 'core', 'platform-express', 'platform-fastify');
  rmSync(join(home, 'node_modules/nestjs-session-auth'), { recursive: true, force: true });
  const dependencies = { ...COMMON, ...packages, 'nestjs-session-auth': `file:${theTarball()}` };
  await install(home, { type, dependencies });
  const source = readFileSync(new URL('app/main.ts', import.meta.url), 'utf8');
  const module = type === 'module' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS;
  writeFileSync(join(home, 'main.js'), transpile(source, module));
  writeFileSync(join(home, 'preload.mjs'), "import 'nestjs-session-auth';\n");
  return { label, type, home, version: versionOf(home, '@nestjs/core') };
}

/** One application after the other, because some checks measure time. */
async function tryAll(runtimes, apps) {
  const rows = [];
  for (const runtime of runtimes)
    for (const app of apps)
      for (const platform of Object.keys(PLATFORMS)) rows.push(await tryOne(runtime, app, platform));
  return rows;
}

/** Deno's caches are new each time, because they decide whether an application starts. */
async function tryOne({ label, command, args }, app, platform) {
  const cells = [label, app.label, app.version, PLATFORMS[platform]];
  const caches = mkdtempSync(join(folder, 'caches-'));
  const variables = { PLATFORM: platform, DENO_DIR: caches, DENO_NO_UPDATE_CHECK: '1' };
  const run = { command, args: [...args[app.type], 'main.js'], cwd: app.home, variables };
  const { outcomes, said } = await tryOut(run);
  rmSync(caches, { recursive: true, force: true });
  const passed = Object.values(outcomes).every((outcome) => outcome === true);
  console.log(`${cells.join(', ')}: ${passed ? 'passes' : `fails\n${said.join('\n')}`}`);
  return { cells, outcomes };
}
