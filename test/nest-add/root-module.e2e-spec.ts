import { describe, expect, it } from '@jest/globals';
import { format } from 'prettier';
import { nestAdd } from './nest-add.js';
import { BOTH, IMPORTS, MODULE, moduleWith, projectWith, SESSION_AUTH } from './projects.js';

const CONTROLLER = "import { AppController } from './app.controller.js';\n";
const CORE = "import { CoreModule } from './core.module.js';\n";

/** What a root module says in `imports`, and what is there afterwards. */
const CASES: readonly [name: string, before: string, after: string][] = [
  ['an empty list', '{\n  imports: [],\n  controllers: [],\n}', `{\n  imports: [\n${BOTH}  ],\n  controllers: [],\n}`],
  ['a list on one line', '{\n  imports: [CoreModule],\n}', `{\n  imports: [\n    CoreModule,\n${BOTH}  ],\n}`],
  [
    'everything on one line',
    '{ imports: [CoreModule], providers: [] }',
    `{\n  imports: [\n    CoreModule,\n${BOTH}  ],\n  providers: [],\n}`,
  ],
  [
    'a list of lines, one with a comment',
    '{\n  imports: [\n    CoreModule, // first\n    // OldModule,\n  ],\n}',
    `{\n  imports: [\n    CoreModule, // first\n    // OldModule,\n${BOTH}  ],\n}`,
  ],
  ['no list', '{\n  controllers: [],\n}', `{\n  imports: [\n${BOTH}  ],\n  controllers: [],\n}`],
  ['no list, on one line', '{ controllers: [], providers: [] }', `{\n  imports: [\n${BOTH}  ],\n  controllers: [],\n  providers: [],\n}`],
  ['an empty object', '{}', `{\n  imports: [\n${BOTH}  ],\n}`],
  ['no object', '', `{\n  imports: [\n${BOTH}  ],\n}`],
];

describe('the root module after nest add', () => {
  const add = nestAdd();
  const moduleAfter = async (module: string): Promise<string | undefined> => (await add(projectWith(module))).files[MODULE];

  it.each(CASES)('has the session check in its imports where it had %s', async (_name, before, after) => {
    const module = await moduleAfter(moduleWith(before, CORE));

    const written = moduleWith(after, IMPORTS + CORE).replace("common';\n\n", "common';\n");
    const style = { parser: 'typescript', singleQuote: true } as const;
    expect(await format(module ?? '', style)).toBe(await format(written, style));
  });

  it('is formatted as Prettier formats it', async () => {
    for (const [, before] of CASES) {
      const module = await moduleAfter(moduleWith(before, `${CORE}\nvoid CoreModule;\n`));
      expect(module).toBe(await format(module ?? '', { parser: 'typescript', singleQuote: true }));
    }
  });

  it('keeps its quotes, tabs, line ends and missing semicolons', async () => {
    const before = ['import { Module } from "@nestjs/common"', '', '@Module({', '\timports: [],', '})', 'export class AppModule {}', ''];

    const module = await moduleAfter(before.join('\r\n'));

    expect(module?.split('\r\n').slice(0, 9)).toEqual([
      'import { Module } from "@nestjs/common"',
      'import { ConfigModule, ConfigService } from "@nestjs/config"',
      'import { SessionAuthModule } from "nestjs-session-auth"',
      '',
      '@Module({',
      '\timports: [',
      '\t\tConfigModule.forRoot(),',
      '\t\tSessionAuthModule.forRootAsync({',
      '\t\t\timports: [ConfigModule],',
    ]);
    expect(module?.replaceAll('\r\n', '')).not.toMatch(/[\r\n']/);
  });

  it('keeps its byte order mark, and its comments where they were', async () => {
    const module = await moduleAfter(
      `\uFEFFimport { Module } from '@nestjs/common'; // eslint-disable-line\n\n@Module({})\nexport class AppModule {}\n`,
    );

    expect(module).toMatch(/^\uFEFFimport \{ Module \} from '@nestjs\/common'; \/\/ eslint-disable-line\nimport /);
  });

  it.each(["'imports'", '"imports"', "['imports']"])('has the session check in the list that it calls %s', async (name) => {
    const module = await moduleAfter(moduleWith(`{\n  ${name}: [],\n}`));

    expect(module).toContain(`  ${name}: [\n${BOTH}  ],\n`);
    expect(module?.match(/^ {2}\S*imports/gm)).toHaveLength(1);
  });

  it('has the session check though another file of the application is not UTF-8', async () => {
    const { files } = await add(projectWith(moduleWith('{}'), { 'src/words.ts': "export const FOR = 'für';\n" }), {}, 'latin1');

    expect(files[MODULE]).toContain(BOTH);
  });

  it('keeps its one ConfigModule.forRoot(), wherever in the application that is', async () => {
    const config = "import { ConfigModule } from '@nestjs/config';\n";
    const metadata = '{\n  imports: [\n    ConfigModule.forRoot({ isGlobal: true }),\n  ],\n}';
    const here = await moduleAfter(moduleWith(metadata, config));
    const elsewhere = await add(
      projectWith(moduleWith('{\n  imports: [CoreModule],\n}', CORE), {
        'src/core/core.module.ts': moduleWith('{ imports: [ConfigModule.forRoot()] }', config, 'CoreModule'),
        'src/core/core.module.spec.ts': 'it is a test',
      }),
    );

    expect(here).toContain(`    ConfigModule.forRoot({ isGlobal: true }),\n${SESSION_AUTH}`);
    expect(here).toContain("import { ConfigModule, ConfigService } from '@nestjs/config';\n");
    expect(elsewhere.files[MODULE]).toContain(`    CoreModule,\n${SESSION_AUTH}`);
  });

  it('is not misled by a ConfigModule.forRoot() in a test or in a comment', async () => {
    const spec = moduleWith('{ imports: [ConfigModule.forRoot()] }', "import { ConfigModule } from '@nestjs/config';\n");
    const { files } = await add(
      projectWith(moduleWith('{}', '// ConfigModule.forRoot() of @nestjs/config\n'), { 'src/app.module.spec.ts': spec }),
    );

    expect(files[MODULE]).toContain(BOTH);
  });

  it('calls what it imports by the names that it has for it', async () => {
    const module = await moduleAfter(moduleWith('{}', "import { ConfigModule as Env } from '@nestjs/config';\n"));

    expect(module).toContain("import { ConfigModule as Env, ConfigService } from '@nestjs/config';");
    expect(module).toContain('    Env.forRoot(),\n    SessionAuthModule.forRootAsync({\n      imports: [Env],\n');
  });

  it.each([
    ['a ConfigModule of its own', "import { ConfigModule } from './config/config.module.js';", 'ConfigModule'],
    ['imported ConfigService as a type', "import type { ConfigService } from '@nestjs/config';", 'ConfigService'],
    ['imported ConfigService as a type in a list', "import { type ConfigService } from '@nestjs/config';", 'ConfigService'],
  ])('gives another name to what it adds where it had %s', async (_name, line, taken) => {
    const module = await moduleAfter(moduleWith('{}', `${line}\n`));

    expect(module).toContain(`${taken} as Nest${taken}`);
    expect(module).toContain(taken === 'ConfigModule' ? 'imports: [NestConfigModule],' : '(config: NestConfigService) =>');
  });

  it('protects every route when that is asked for, and not otherwise', async () => {
    const project = projectWith(moduleWith('{}', CONTROLLER));

    const all = await add(project, { protectAllRoutes: true });
    const some = await add(project);

    expect(all.files[MODULE]).toContain('      }),\n      protectAllRoutes: true,\n    }),\n');
    expect(all.said).toContain('@Public()');
    expect(some.files[MODULE]).not.toContain('protectAllRoutes');
    expect(some.said).toContain('@UseGuards(SessionAuthGuard)');
  });
});
