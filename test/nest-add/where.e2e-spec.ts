import { describe, expect, it, afterAll, beforeAll } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nestAdd, type Answer, type Files } from './nest-add.js';
import {
  emptyProject,
  main,
  MODULE,
  moduleWith,
  projectWith,
  SESSION_AUTH,
  BOTH,
  IMPORTS,
} from './projects.js';

const ROOT_MODULE = moduleWith('{}', '', 'RootModule');

/** The files that have the session check in them now. */
const changed = ({ files }: Answer): string[] =>
  Object.keys(files).filter((path) => files[path]?.includes(SESSION_AUTH));

describe('nest add finds the root module', () => {
  const add = nestAdd();

  const APPLICATIONS: readonly [name: string, files: Files, path: string][] = [
    [
      'where main.ts imports it from',
      { 'src/main.ts': main('./root/root.module.js', 'RootModule') },
      'src/root/root.module.ts',
    ],
    ['in src/app.module.ts when there is no main.ts', {}, MODULE],
    [
      'when main.ts gets it by an alias of the compiler, and it is where nest new puts it',
      { 'src/main.ts': main('@/app.module.js', 'RootModule') },
      MODULE,
    ],
  ];

  it.each(APPLICATIONS)('%s', async (_name, files, path) => {
    const others = { 'src/other.module.ts': moduleWith('{}', '', 'OtherModule') };

    const answer = await add({ ...emptyProject({}), ...others, ...files, [path]: ROOT_MODULE });

    expect(changed(answer)).toEqual([path]);
    expect(answer.said).toContain(`SessionAuthModule is registered in ${path}.`);
  });

  it('of the project that the Nest CLI names, in a monorepo, and leaves the others alone', async () => {
    const projects = {
      api: { sourceRoot: 'apps/api/src', entryFile: 'server' },
      web: { sourceRoot: 'apps/web/src' },
    };
    const monorepo = {
      ...emptyProject({}),
      'nest-cli.json': JSON.stringify({ sourceRoot: 'apps/web/src', monorepo: true, projects }),
      'apps/api/src/server.ts': main('./api.module', 'ApiModule'),
      'apps/api/src/api.module.ts': moduleWith('{}', '', 'ApiModule'),
      'apps/web/src/main.ts': main('./web.module', 'WebModule'),
      'apps/web/src/web.module.ts': moduleWith('{}', '', 'WebModule'),
    };

    expect(changed(await add(monorepo, { sourceRoot: 'apps/api/src' }))).toEqual([
      'apps/api/src/api.module.ts',
    ]);
    expect(changed(await add(monorepo))).toEqual(['apps/web/src/web.module.ts']);
  });

  it('where --module says it is', async () => {
    const module = 'core/core';
    const core = { 'src/core/core.module.ts': moduleWith('{}', '', 'CoreModule') };

    const { files } = await add(projectWith(moduleWith('{}'), core), { module });

    expect(files['src/core/core.module.ts']).toContain(SESSION_AUTH);
    expect(files[MODULE]).toBe(moduleWith('{}'));
  });
});

const OWN_CONFIG = "import { ConfigModule, NestConfigModule } from './config/config.module.js';\n";
const NO_ARRAY = 'its `imports` is not an array literal';
const SHARED = "import { shared } from './shared.js';\n";

/** Modules that can't be extended safely, and the reason that the user is shown. */
const CASES: readonly [name: string, module: string, why: string][] = [
  ['has imports that are kept elsewhere', moduleWith('{ imports: shared }', SHARED), NO_ARRAY],
  [
    'uses every name already',
    moduleWith('{}', OWN_CONFIG),
    'ConfigModule and NestConfigModule are already in use there',
  ],
  ['is not valid TypeScript', moduleWith('{ imports: [ }'), 'it is not valid TypeScript'],
];

/** As a user sees them, further in. */
const printed = (lines: string): string => lines.trimEnd().replaceAll(/^(?: {4})?/gm, '    ');

describe('nest add changes no code, and prints the lines to add', () => {
  const add = nestAdd();

  it.each(CASES)('when the root module %s', async (_name, module, why) => {
    const { files, said } = await add(projectWith(module));

    expect(files[MODULE]).toBe(module);
    expect(said).toContain(why);
    expect(said).toContain(printed(IMPORTS));
    expect(said).toContain(printed(BOTH));
    expect(files['.env.example']).toContain('SESSION_SERVICE_URL=');
    expect(files['package.json']).toContain('"axios"');
  });

  it('when there is no module, and prints where it looked', async () => {
    const { said } = await add({ ...emptyProject({}), 'src/main.ts': main('./lost.module.js') });

    expect(said).toContain('neither src/main.ts nor src/app.module.ts leads to one');
    expect(said).toContain('--module <file>');
  });
});

describe('nest add in a project without typescript', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nest-add-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const add = nestAdd(() => folder);

  it('changes no code, and prints the lines to add', async () => {
    const project: Files = projectWith(moduleWith('{}'));

    const { files, said } = await add(project);

    expect(files[MODULE]).toBe(project[MODULE]);
    expect(said).toContain('TypeScript 5 or 6 is not installed in this project');
    expect(said).toContain(printed(BOTH));
  });
});
