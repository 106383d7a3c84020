// Bundles the application of the runtimes with every bundler, and runs each bundle where no package is
// installed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { COMMON, nestPackages } from '../package/dependencies.mjs';
import { install, output } from '../package/steps.mjs';
import { theTarball } from '../package/tarball.mjs';
import { CHECKS, tryOut } from '../runtimes/trial.mjs';
import { transpile, versionOf } from './projects.mjs';

const BUNDLING = fileURLToPath(new URL('bundling.mjs', import.meta.url));

/** The application has no optional peer of Nest and of the library. */
const PACKAGES = { ...COMMON, ...nestPackages('^12.0.0', 'common', 'core', 'platform-express') };
const BUNDLERS = { esbuild: '^0.28.0', webpack: '^5.0.0', '@rspack/core': '^1.0.0', rolldown: '^1.0.0' };
const FORMATS = { esm: 'ES module', cjs: 'CommonJS' };

export const COLUMNS = ['bundler', 'bundle', ...Object.keys(CHECKS)];

export async function tryAll(folder) {
  const app = join(folder, 'app');
  await layOut(app);
  const rows = [];
  for (const bundler of Object.keys(BUNDLERS)) {
    for (const format of Object.keys(FORMATS)) rows.push(await tryBundle(app, bundler, format, folder));
  }
  return rows;
}

/** The application of the runtimes, without Fastify. */
async function layOut(app) {
  rmSync(join(app, 'node_modules/nestjs-session-auth'), { recursive: true, force: true });
  await install(app, {
    type: 'module',
    dependencies: { ...PACKAGES, ...BUNDLERS, 'nestjs-session-auth': `file:${theTarball()}` },
  });
  const source = readFileSync(new URL('../runtimes/app/main.ts', import.meta.url), 'utf8')
    .replace(/^import .*FastifyAdapter.*\n/m, '')
    .replace(/PLATFORM === 'fastify' [?] new FastifyAdapter\(\) : /, '');
  writeFileSync(join(app, 'main.js'), transpile(source, ts.ModuleKind.ESNext));
}

async function tryBundle(app, bundler, format, folder) {
  const name = bundler.replace('@rspack/core', 'rspack');
  const target = join(folder, `${name}-${format}`);
  mkdirSync(target, { recursive: true });
  const file = join(target, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
  await output(app, process.execPath, [BUNDLING, bundler, format, file]);
  const { outcomes, said } = await tryOut({ command: process.execPath, args: [file], cwd: target });
  return { cells: [`${name} ${versionOf(app, bundler)}`, FORMATS[format]], outcomes, said: said.join('\n') };
}
