// npm workspaces with two copies of `@nestjs/common`.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { install } from '../package/steps.mjs';
import { transpile, versionOf } from './projects.mjs';
import { COMMONJS, dependenciesOf, ES_MODULES, layOut, PROJECT, runTests, TESTS } from './test-runners.mjs';

export const COLUMNS = ['other copy', 'modules', "application's", 'other', ...TESTS];

/** The versions of the application and of the other copy. */
const VERSIONS = { 12: { own: '12.5.1', other: '12.4.2' }, 11: { own: '11.2.10', other: '11.2.9' } };

/** The place of the other copy, and the layout that npm creates. */
const LAYOUTS = {
  /**
   * The controller is in a package of the workspace, which depends on another version of Nest. The library is
   * there once.
   */
  'of a package with controllers': { isShared: true },
  /** The root depends on another version than the application, and npm gives its copy to `@nestjs/core`. */
  'of @nestjs/core': { isShared: false },
};

export async function tryAll(folder) {
  const rows = [];
  for (const runner of [ES_MODULES, COMMONJS])
    for (const [label, layout] of Object.entries(LAYOUTS))
      rows.push(
        await tryWorkspace(
          runner,
          label,
          layout,
          join(folder, `workspace-${runner.type}-${layout.isShared ? 'package' : 'core'}`),
        ),
      );
  return rows;
}

async function tryWorkspace(runner, label, { isShared }, folder) {
  const { type, major } = runner;
  const { own, other } = VERSIONS[major];
  const [app, feature] = [join(folder, 'apps/api'), join(folder, 'packages/feature')];
  const dependencies = { ...dependenciesOf(runner), '@nestjs/common': own };
  rmSync(folder, { recursive: true, force: true });
  for (const path of [app, feature]) mkdirSync(path, { recursive: true });
  manifest(app, {
    name: 'api',
    type,
    dependencies: isShared ? { ...dependencies, feature: '1.0.0' } : dependencies,
  });
  if (isShared) {
    manifest(feature, {
      name: 'feature',
      type,
      main: 'index.js',
      dependencies: { '@nestjs/common': other, 'nestjs-session-auth': dependencies['nestjs-session-auth'] },
    });
  }
  await install(folder, {
    workspaces: ['apps/*', 'packages/*'],
    dependencies: isShared ? {} : { '@nestjs/common': other },
  });
  layOut(runner, app);
  if (isShared) moveController(type, app, feature);
  const otherAt = isShared ? feature : folder;
  const appsAt = isShared ? folder : app;
  const cells = [
    label,
    type === 'module' ? 'ES modules' : 'CommonJS',
    versionOf(appsAt, '@nestjs/common'),
    versionOf(otherAt, '@nestjs/common'),
  ];
  return { cells, ...(await runTests(runner, app, folder)) };
}

function manifest(folder, content) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '1.0.0', ...content }, undefined, 2));
}

/** Compiles the controller into the package, from which the application imports it. */
function moveController(type, app, feature) {
  const source = readFileSync(join(PROJECT, 'src/sample.controller.ts'), 'utf8');
  writeFileSync(
    join(feature, 'index.js'),
    transpile(source, type === 'module' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS),
  );
  writeFileSync(join(feature, 'index.d.ts'), 'export declare class SampleController {}\n');
  const file = join(app, 'src/app.module.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('./sample.controller.js', 'feature'));
  rmSync(join(app, 'src/sample.controller.ts'));
}
