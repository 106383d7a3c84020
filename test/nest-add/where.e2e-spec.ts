import { describe, expect, it } from '@jest/globals';
import { nestAdd, type Answer, type Files } from './nest-add.js';
import { emptyProject, main, MODULE, moduleWith, projectWith, SESSION_AUTH } from './projects.js';

const ROOT_MODULE = moduleWith('{}', '', 'RootModule');

/** The files that have the session check in them now. */
const changed = ({ files }: Answer): string[] => Object.keys(files).filter((path) => files[path]?.includes(SESSION_AUTH));

describe('nest add finds the root module', () => {
  const add = nestAdd();

  const APPLICATIONS: readonly [name: string, files: Files, path: string][] = [
    ['where main.ts imports it from', { 'src/main.ts': main('./root/root.module.js', 'RootModule') }, 'src/root/root.module.ts'],
    ['without an extension, as in CommonJS', { 'src/main.ts': main('./root/root.module', 'RootModule') }, 'src/root/root.module.ts'],
    ['in the index of a folder', { 'src/main.ts': main('./root', 'RootModule') }, 'src/root/index.ts'],
    ['when main.ts starts it with options', { 'src/main.ts': main('./root.module', 'RootModule.forRoot()') }, 'src/root.module.ts'],
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

  it('in main.ts itself', async () => {
    const text = main('./nothing', 'RootModule').replace("import { RootModule } from './nothing';", ROOT_MODULE);

    expect(changed(await add({ ...emptyProject({}), 'src/main.ts': text }))).toEqual(['src/main.ts']);
  });

  it('among other modules of its file, by its name', async () => {
    const before = moduleWith('{ providers: [1] }', '', 'OneModule') + moduleWith('{}').split('\n').slice(1).join('\n');

    const { files } = await add(projectWith(before));

    expect(files[MODULE]).toContain('@Module({ providers: [1] })');
    expect(files[MODULE]).toContain(`${SESSION_AUTH}  ],\n})\nexport class AppModule`);
  });

  it('of the project that the Nest CLI names, in a monorepo, and leaves the others alone', async () => {
    const projects = { api: { sourceRoot: 'apps/api/src', entryFile: 'server' }, web: { sourceRoot: 'apps/web/src' } };
    const monorepo = {
      ...emptyProject({}),
      'nest-cli.json': JSON.stringify({ sourceRoot: 'apps/web/src', monorepo: true, projects }),
      'apps/api/src/server.ts': main('./api.module', 'ApiModule'),
      'apps/api/src/api.module.ts': moduleWith('{}', '', 'ApiModule'),
      'apps/web/src/main.ts': main('./web.module', 'WebModule'),
      'apps/web/src/web.module.ts': moduleWith('{}', '', 'WebModule'),
    };

    expect(changed(await add(monorepo, { sourceRoot: 'apps/api/src' }))).toEqual(['apps/api/src/api.module.ts']);
    expect(changed(await add(monorepo))).toEqual(['apps/web/src/web.module.ts']);
  });

  it.each(['src/core/core.module.ts', 'src/core/core.module', 'core/core.module.ts', 'core/core'])(
    'where --module %s says it is',
    async (module) => {
      const core = { 'src/core/core.module.ts': moduleWith('{}', '', 'CoreModule') };

      const { files } = await add(projectWith(moduleWith('{}'), core), { module });

      expect(files['src/core/core.module.ts']).toContain(SESSION_AUTH);
      expect(files[MODULE]).toBe(moduleWith('{}'));
    },
  );
});
