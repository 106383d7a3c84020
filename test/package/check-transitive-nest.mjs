// Resolves the tarball beside NestJS 11 that another package brings, as with @vendure/core, and beside releases of
// NestJS 11 that are too old.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder, INSTALL, output } from './steps.mjs';

const FRAMEWORK = {
  name: 'framework',
  version: '1.0.0',
  dependencies: {
    '@nestjs/common': '^11.1.18',
    '@nestjs/core': '^11.1.18',
    // Its peers @nestjs/common and @nestjs/core hold npm to NestJS 11.
    '@nestjs/graphql': '~13.1.0',
    graphql: '^16.0.0',
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.8.0',
  },
};

/** Fails if npm does not resolve the dependencies, or not to NestJS 11 alone. Installs nothing. */
export async function checkTransitiveNest(tarball) {
  await inFolder('transitive', async (folder) => {
    const [framework, app] = [join(folder, 'framework'), join(folder, 'app')];
    for (const path of [framework, app]) mkdirSync(path);
    writeFileSync(join(framework, 'package.json'), JSON.stringify(FRAMEWORK));
    await output(framework, 'npm', ['pack', '--loglevel', 'error']);
    writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true }));
    for (const added of [join(framework, 'framework-1.0.0.tgz'), tarball]) {
      await output(app, 'npm', [...INSTALL, '--package-lock-only', added]);
    }
    const { packages } = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8'));
    const versions = Object.entries(packages).flatMap(([path, { version }]) =>
      path.endsWith('@nestjs/core') ? version : [],
    );
    if (versions.length !== 1 || !versions[0].startsWith('11.'))
      throw new Error(`npm adds @nestjs/core ${versions.join(' and ')}`);
  });
  console.log('beside a package that depends on NestJS 11, npm installs no other NestJS');
}

/**
 * Fails if npm updates one package of an older NestJS 11 and not the other: @nestjs/core then can't find a file of
 * @nestjs/common, and the application does not start. Installs nothing.
 */
export async function checkOlderNest(tarball) {
  const framework = (common, core) => ({
    '@nestjs/common': common,
    '@nestjs/core': core,
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.8.0',
  });
  await inFolder('older', async (folder) => {
    const [manifest, lock] = [join(folder, 'package.json'), join(folder, 'package-lock.json')];
    const write = (dependencies) => writeFileSync(manifest, JSON.stringify({ private: true, dependencies }));
    write(framework('11.1.2', '11.0.9'));
    await output(folder, 'npm', [...INSTALL, '--package-lock-only']);
    const locked = JSON.parse(readFileSync(lock, 'utf8'));
    locked.packages[''].dependencies = framework('^11.1.2', '^11.0.9');
    write(locked.packages[''].dependencies);
    writeFileSync(lock, JSON.stringify(locked));
    await output(folder, 'npm', [...INSTALL, '--package-lock-only', tarball]);
    const { packages } = JSON.parse(readFileSync(lock, 'utf8'));
    const [common, core] = ['common', 'core'].map((name) => packages[`node_modules/@nestjs/${name}`].version);
    if (common !== core) throw new Error(`npm has @nestjs/common ${common} beside @nestjs/core ${core}`);
  });
  console.log('beside an older NestJS 11, npm updates its packages together');
}
