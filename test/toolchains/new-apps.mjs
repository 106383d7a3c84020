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
  const create = 'nest new app --package-manager npm --skip-git --skip-install'.split(' ');
  await output(folder, 'npx', [...create, ...(major > 11 ? ['--no-observe'] : [])]);
  await output(app, 'npm', INSTALL);
  await nestAdd(app, registry, ...options);
  const outcomes = {};
  const failures = [];
  for (const script of SCRIPTS) {
    const settings = { env: UNSET, stdio: ['ignore', 'pipe', 'pipe'] };
    const { code, said } = await ended(app, 'npm', ['run', script], settings);
    outcomes[script] = code === 0 || `it ended with ${code}`;
    if (code !== 0) failures.push(said);
  }
  const versions = [versionOf(app, '@nestjs/core'), versionOf(folder, '@nestjs/cli')];
  return { cells: [...versions, options.join(' ') || 'none'], outcomes, said: failures.join('\n') };
}
