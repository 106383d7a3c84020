import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nestAdd, type Files } from './nest-add.js';
import { BOTH, emptyProject, IMPORTS, main, MODULE, moduleWith, projectWith } from './projects.js';

const OWN_CONFIG = "import { ConfigModule, NestConfigModule } from './config/config.module.js';\n";
const SHARED = "import { shared } from './shared.js';\n";

/** Modules that can't be extended safely, and the reason that the user is shown. */
const CASES: readonly [name: string, module: string, why: string][] = [
  ['has imports that are kept elsewhere', moduleWith('{ imports: shared }', SHARED), 'its `imports` is not an array literal'],
  ['spreads another object', moduleWith('{ ...shared }', SHARED), 'spreads another object'],
  ['may get its imports from another object', moduleWith('{ imports: [], ...shared }', SHARED), 'spreads another object'],
  ['has a computed name for its imports', moduleWith('{ [`imports`]: shared }', SHARED), 'its `imports` is not an array literal'],
  ['is described elsewhere', moduleWith('shared', SHARED), 'the argument of its @Module() is not an object literal'],
  ['uses every name already', moduleWith('{}', OWN_CONFIG), 'ConfigModule and NestConfigModule are already in use there'],
  ['is not valid TypeScript', moduleWith('{ imports: [ }'), 'it is not valid TypeScript'],
  ['is no module', 'export class AppModule {}\n', 'no class with @Module() was found'],
];

/** As a user sees them, further in. */
const printed = (lines: string): string => lines.trimEnd().replaceAll(/^(?: {4})?/gm, '    ');

describe('nest add changes no code and says what to add', () => {
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

  it('when there is no module, and says where it looked', async () => {
    const { said } = await add({ ...emptyProject({}), 'src/main.ts': main('./lost.module.js') });

    expect(said).toContain('neither src/main.ts nor src/app.module.ts leads to one');
    expect(said).toContain('--module <file>');
  });

  it('when main.ts starts a module from outside the project', async () => {
    const { said } = await add({ ...emptyProject({}), 'src/main.ts': main('../../other/app.module.js') });

    expect(said).toContain('leads to one');
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
    const project = { ...emptyProject({}), 'nest-cli.json': '{ "language": "js" }', 'src/app.module.js': 'module.exports = {};' };

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

  it('changes no code and says what to add', async () => {
    const project: Files = projectWith(moduleWith('{}'));

    const { files, said } = await add(project);

    expect(files[MODULE]).toBe(project[MODULE]);
    expect(said).toContain('TypeScript 5 or 6 is not installed in this project');
    expect(said).toContain(printed(BOTH));
  });
});
