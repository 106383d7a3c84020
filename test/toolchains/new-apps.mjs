// Runs `nest new`, `nest add nestjs-session-auth`, and the scripts of the generated application.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startRegistry } from '../package/local-registry.mjs';
import { nestAdd, UNSET } from '../package/nest-add.mjs';
import { NEST_APPS } from '../package/nest-apps.mjs';
import { ended, install, INSTALL, output } from '../package/steps.mjs';
import { theTarball } from '../package/tarball.mjs';
import { versionOf } from './projects.mjs';

const SCRIPTS = ['build', 'lint', 'test', 'test:e2e'];
export const COLUMNS = ['NestJS', 'Nest CLI', 'options of nest add', ...SCRIPTS];

export async function tryAll(folder) {
  const registry = await startRegistry(theTarball());
  const rows = [];
  try {
    for (const { major, options } of NEST_APPS)
      rows.push(await tryNew(major, options, registry.url, join(folder, `nest-new-${major}`)));
  } finally {
    registry.close();
  }
  return rows;
}

async function tryNew(major, options, registry, folder) {
  await install(folder, { dependencies: { '@nestjs/cli': `^${major}.0.0` } });
  const app = join(folder, 'app');
  rmSync(app, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const quiet = major > 11 ? ['--no-observe'] : [];
  await output(folder, 'npx', [
    'nest',
    'new',
    'app',
    '--package-manager',
    'npm',
    '--skip-git',
    '--skip-install',
    ...quiet,
  ]);
  await output(app, 'npm', INSTALL);
  await nestAdd(app, registry, ...options);
  const results = [];
  for (const script of SCRIPTS)
    results.push([
      script,
      await ended(app, 'npm', ['run', script], { env: UNSET, stdio: ['ignore', 'pipe', 'pipe'] }),
    ]);
  const outcomes = results.map(([script, { code }]) => [script, code === 0 || `it ended with ${code}`]);
  const cells = [
    versionOf(app, '@nestjs/core'),
    versionOf(folder, '@nestjs/cli'),
    options.join(' ') || 'none',
  ];
  return {
    cells,
    outcomes: Object.fromEntries(outcomes),
    said: results
      .filter(([, { code }]) => code !== 0)
      .map(([, { said }]) => said)
      .join('\n'),
  };
}
