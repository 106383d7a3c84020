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
    ['in the index of a folder', { 'src/main.ts': main('./root', 'RootModule') }, 'src/root/index.ts'],
    [
      'when main.ts starts it with options',
      { 'src/main.ts': main('./root.module', 'RootModule.forRoot()') },
      'src/root.module.ts',
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

  it('among other modules of its file, by its name', async () => {
    const before =
      moduleWith('{ providers: [1] }', '', 'OneModule') + moduleWith('{}').split('\n').slice(1).join('\n');

    const { files } = await add(projectWith(before));

    expect(files[MODULE]).toContain('@Module({ providers: [1] })');
    expect(files[MODULE]).toContain(`${SESSION_AUTH}  ],\n})\nexport class AppModule`);
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

  it.each(['src/core/core.module.ts', 'core/core'])('where --module %s says it is', async (module) => {
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
    'may get its imports from another object',
    moduleWith('{ imports: [], ...shared }', SHARED),
    'spreads another object',
  ],
  [
    'is described elsewhere',
    moduleWith('shared', SHARED),
    'the argument of its @Module() is not an object literal',
  ],
  [
    'uses every name already',
    moduleWith('{}', OWN_CONFIG),
    'ConfigModule and NestConfigModule are already in use there',
  ],
  ['is not valid TypeScript', moduleWith('{ imports: [ }'), 'it is not valid TypeScript'],
  ['is no module', 'export class AppModule {}\n', 'no class with @Module() was found'],
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

  it('when the root module is not UTF-8', async () => {
    const project = projectWith(moduleWith('{}', '// für alle\n'));

    const { files, said } = await add(project, {}, 'latin1');

    expect(files[MODULE]).toBe(project[MODULE]);
    expect(said).toContain('it is not UTF-8');
  });

  it('when --module names no module', async () => {
    const project = projectWith(moduleWith('{}'));

    const { files, said } = await add(project, { module: 'src/main.ts' });

    expect(files[MODULE]).toBe(project[MODULE]);
    expect(said).toContain('src/main.ts has none, or more than one');
  });

  it('in a JavaScript project, where the lines have no types', async () => {
    const project = {
      ...emptyProject({}),
      'nest-cli.json': '{ "language": "js" }',
      'src/app.module.js': 'module.exports = {};',
    };

    const { files, said } = await add(project);

    expect(files['src/app.module.js']).toBe(project['src/app.module.js']);
    expect(said).toContain("baseUrl: config.getOrThrow('SESSION_SERVICE_URL'),");
    expect(said).not.toContain('config: ConfigService');
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
