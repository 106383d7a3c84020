// Bundles an application that has the packed library (`npm run pack`) with every bundler, and runs each bundle where no package is installed.
// Writes a table of docs/compatibility.md. TOOLCHAINS_FOLDER keeps what is installed.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { tableOf, writeSection } from '../runtimes/compatibility-page.mjs';
import { install } from '../runtimes/installing.mjs';
import { theTarball } from '../runtimes/tarball.mjs';
import { CHECKS, tryOut } from '../runtimes/trial.mjs';

const execute = promisify(execFile);
const BUNDLING = fileURLToPath(new URL('bundling.mjs', import.meta.url));

/** The application has no optional peer of Nest and of the library. */
const PACKAGES = {
  '@nestjs/axios': '^12.0.0',
  '@nestjs/common': '^12.0.0',
  '@nestjs/core': '^12.0.0',
  '@nestjs/platform-express': '^12.0.0',
  axios: '^1.8.0',
  'class-transformer': '^0.5.1',
  'class-validator': '^0.15.0',
  'reflect-metadata': '^0.2.0',
  rxjs: '^7.8.0',
};
const BUNDLERS = { esbuild: '^0.28.0', webpack: '^5.0.0', '@rspack/core': '^1.0.0', rolldown: '^1.0.0' };
const FORMATS = { esm: 'ES module', cjs: 'CommonJS' };

const kept = process.env.TOOLCHAINS_FOLDER;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'session-auth-toolchains-'));
const rows = [];
try {
  const app = join(folder, 'app');
  await layOut(app);
  for (const bundler of Object.keys(BUNDLERS)) for (const format of Object.keys(FORMATS)) rows.push(await tryBundle(app, bundler, format));
} finally {
  if (!kept) rmSync(folder, { recursive: true, force: true });
}
const table = tableOf(
  ['bundler', 'bundle', ...Object.keys(CHECKS)],
  rows.map(({ cells, outcomes }) => [...cells, ...outcomes.map((outcome) => (outcome === true ? 'yes' : 'no'))]),
);
console.log(table);
await writeSection('bundlers', table);
if (rows.some(({ outcomes }) => outcomes.some((outcome) => outcome !== true))) process.exitCode = 1;

/** The application of the runtimes, without Fastify. */
async function layOut(app) {
  rmSync(join(app, 'node_modules/nestjs-session-auth'), { recursive: true, force: true });
  await install(app, { type: 'module', dependencies: { ...PACKAGES, ...BUNDLERS, 'nestjs-session-auth': `file:${theTarball()}` } });
  const source = readFileSync(new URL('../runtimes/app/main.ts', import.meta.url), 'utf8')
    .replace(/^import .*FastifyAdapter.*\n/m, '')
    .replace(/PLATFORM === 'fastify' [?] new FastifyAdapter\(\) : /, '');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  writeFileSync(join(app, 'main.js'), outputText);
}

async function tryBundle(app, bundler, format) {
  const name = bundler.replace('@rspack/core', 'rspack');
  const output = join(folder, `${name}-${format}`);
  mkdirSync(output, { recursive: true });
  const file = join(output, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
  await execute(process.execPath, [BUNDLING, bundler, format, file], { cwd: app });
  const { outcomes, said } = await tryOut({ command: process.execPath, args: [file], cwd: output, variables: {} });
  const { version } = JSON.parse(readFileSync(join(app, 'node_modules', bundler, 'package.json'), 'utf8'));
  const failures = Object.entries(outcomes).filter(([, outcome]) => outcome !== true);
  for (const [check, message] of failures) console.error(`${name}, ${format}: ${check}: ${message}\n${said.join('\n')}`);
  return { cells: [`${name} ${version}`, FORMATS[format]], outcomes: Object.values(outcomes) };
}
