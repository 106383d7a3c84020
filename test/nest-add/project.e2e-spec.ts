import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { nestAdd, type Answer, type Files } from './nest-add.js';
import { MODULE, moduleWith, projectWith, BOTH, IMPORTS, SESSION_AUTH } from './projects.js';

/** Formats as Prettier does in projects of `nest new`. */
async function formatted(code: string): Promise<string> {
  return (await format('app.module.ts', code, { singleQuote: true, printWidth: 80 })).code;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const add = nestAdd();
const manifestOf = (text = '{}'): Manifest => JSON.parse(text) as Manifest;
const PROJECT = projectWith(moduleWith('{}'));
const INSTALLATION = { name: 'node-package', options: { command: 'install', quiet: true, hideOutput: true } };
const installations = ({ tasks }: Answer): object[] => tasks.filter(({ name }) => name === 'node-package');

const withManifest = (manifest: object): Files => ({ ...PROJECT, 'package.json': JSON.stringify(manifest) });

describe('package.json after nest add', () => {
  it.each([
    ['11', { '@nestjs/axios': '^4.0.0', '@nestjs/config': '^4.0.0' }],
    ['12', { '@nestjs/axios': '^12.0.0', '@nestjs/config': '^12.0.0' }],
  ])('adds the dependencies of the session check on Nest %s', async (major, ofNest) => {
    const { files } = await add(withManifest({ dependencies: { '@nestjs/core': `~${major}.1.0` } }));

    const { dependencies } = manifestOf(files['package.json']);
    const ofAll = { axios: '^1.17.0', 'class-transformer': '^0.5.1', 'class-validator': '^0.15.0' };
    expect(dependencies).toEqual({ '@nestjs/core': `~${major}.1.0`, ...ofNest, ...ofAll });
    expect(Object.keys(dependencies)).toEqual(Object.keys(dependencies).sort());
  });

  it('names every peer of the package that is not optional and not in every Nest application, within the range of the package', async () => {
    const manifest = readFileSync(join(import.meta.dirname, '../../libs/session-auth/package.json'), 'utf8');
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(manifest) as Manifest & {
      peerDependenciesMeta: object;
    };
    const { files } = await add(PROJECT);

    const { dependencies } = manifestOf(files['package.json']);
    const inEvery = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];
    const needed = Object.entries(peerDependencies).filter(
      ([name]) => !inEvery.includes(name) && !(name in peerDependenciesMeta),
    );
    expect(needed).toHaveLength(4);
    for (const [name, range] of needed) expect(range.split(' || ')).toContain(dependencies[name]);
  });

  it('keeps its entries, its indentation, its line ends and its last line', async () => {
    const before =
      '{\r\n\t"dependencies": {\r\n\t\t"@nestjs/core": "^12.0.0",\r\n\t\t"axios": "1.9.0"\r\n\t},\r\n\t"devDependencies": {\r\n\t\t"class-validator": "*"\r\n\t}\r\n}\r\n';

    const { files } = await add({ ...PROJECT, 'package.json': before });

    expect(files['package.json']).toMatch(
      /^\{\r\n\t"dependencies": \{\r\n\t\t"@nestjs\/axios".*\r\n\}\r\n$/s,
    );
    expect(files['package.json']?.replaceAll('\r\n', '')).not.toContain('\n');
    expect(files['package.json']).toContain('"axios": "1.9.0"');
    expect(files['package.json']?.match(/class-validator/g)).toHaveLength(1);
  });

  it('is installed by the package manager of the project', async () => {
    expect(installations(await add(PROJECT))).toEqual([INSTALLATION]);
    expect(installations(await add({ ...PROJECT, 'bun.lock': '' }))).toEqual([
      { ...INSTALLATION, options: { ...INSTALLATION.options, packageManager: 'bun' } },
    ]);
  });

  it('is not installed with --skip-install, which a message reports', async () => {
    const answer = await add(PROJECT, { skipInstall: true });

    expect(installations(answer)).toEqual([]);
    expect(answer.said).toContain(
      '1. Install the packages that were added to package.json: @nestjs/axios, @nestjs/config, axios',
    );
  });
});

describe('.env.example after nest add', () => {
  it('keeps its lines, and .env is unchanged', async () => {
    const example = 'PORT=3000\nSESSION_SERVICE_URL=https://sessions.test';
    const before = { '.env': 'PORT=1', '.env.example': example };

    const { files } = await add({ ...PROJECT, ...before });

    expect(files['.env.example']).toMatch(
      /^PORT=3000\nSESSION_SERVICE_URL=https:\/\/sessions[.]test\n\n#.*\nSESSION_SERVICE_API_KEY=\n$/,
    );
    expect(files['.env']).toBe('PORT=1');
  });
});

/** The end-to-end test that `nest new` writes. */
const GENERATED_TEST = `import { Test, TestingModule } from '@nestjs/testing';
import { AppModule } from './../src/app.module.js';

describe('AppController (e2e)', () => {
  beforeEach(async () => {
    const moduleFixture: TestingModule = await Test.createTestingModule({
      imports: [AppModule],
    }).compile();
  });

  it('/ (GET)', () => {
    return request(app.getHttpServer())
      .get('/')
      .expect(200);
  });
});
`;

describe('the generated end-to-end test after nest add', () => {
  const TEST = 'test/app.e2e-spec.ts';
  const withTest = (text: string): Files => ({ ...PROJECT, [TEST]: text });

  it('runs with TestSessions, and with values for both variables', async () => {
    const { files, said } = await add(withTest(GENERATED_TEST));

    const [head, body] = GENERATED_TEST.split("app.module.js';\n") as [string, string];
    const added = [
      "import { TestSessions } from 'nestjs-session-auth/testing';",
      '',
      "process.env.SESSION_SERVICE_URL ||= 'http://localhost:3100';",
      "process.env.SESSION_SERVICE_API_KEY ||= 'key-for-tests';",
      'const sessions = new TestSessions();',
      '',
    ].join('\n');
    const installed = body
      .replace(
        /Test\.create.*?\.compile/s,
        'sessions\n      .install(Test.createTestingModule({ imports: [AppModule] }))\n      .compile',
      )
      .replace(".get('/')", ".get('/')\n      .set(sessions.signInAs())");
    expect(files[TEST]).toBe(`${head}app.module.js';\n${added}${installed}`);
    expect(said).toContain(`${TEST} runs with TestSessions, without a session service.`);
  });

  it('is unchanged if the user has changed the module that it starts', async () => {
    const own = GENERATED_TEST.replace('imports: [AppModule],', 'imports: [AppModule, OtherModule],');

    const { files, said } = await add(withTest(own));

    expect(files[TEST]).toBe(own);
    expect(said).not.toContain(TEST);
  });
});

describe('nest add, once more', () => {
  it('changes nothing, installs nothing and reports so', async () => {
    const { files } = await add(PROJECT);

    const again = await add(files);

    expect(again.files).toEqual(files);
    expect(installations(again)).toEqual([]);
    expect(again.said).toContain(
      `SessionAuthModule is already registered in ${MODULE}. Your code is unchanged.`,
    );
    const { said } = await add(files, { protectAllRoutes: true });
    expect(said).toContain(`Add \`protectAllRoutes: true\` to it in ${MODULE}.`);
  });

  it('leaves a session check alone that another module of the application registers', async () => {
    const options = "{ baseUrl: 'https://sessions.test', apiKey: 'key' }";
    const auth = moduleWith(
      `{ imports: [SessionAuthModule.forRoot(${options})] }`,
      "import { SessionAuthModule } from 'nestjs-session-auth';\n",
    );

    const { files, said } = await add({ ...PROJECT, 'src/auth/auth.module.ts': auth });

    expect(files[MODULE]).toBe(PROJECT[MODULE]);
    expect(said).toContain('already registered in src/auth/auth.module.ts');
  });
});

const CONTROLLER = "import { AppController } from './app.controller.js';\n";
const CORE = "import { CoreModule } from './core.module.js';\n";

/** The `imports` of a root module, before and after. */
const CASES: readonly [name: string, before: string, after: string][] = [
  [
    'an empty list',
    '{\n  imports: [],\n  controllers: [],\n}',
    `{\n  imports: [\n${BOTH}  ],\n  controllers: [],\n}`,
  ],
  [
    'everything on one line',
    '{ imports: [CoreModule], providers: [] }',
    `{\n  imports: [\n    CoreModule,\n${BOTH}  ],\n  providers: [],\n}`,
  ],
  [
    'no list, on one line',
    '{ controllers: [], providers: [] }',
    `{\n  imports: [\n${BOTH}  ],\n  controllers: [],\n  providers: [],\n}`,
  ],
];

describe('the root module after nest add', () => {
  const moduleAfter = async (module: string): Promise<string | undefined> =>
    (await add(projectWith(module))).files[MODULE];

  it.each(CASES)('has the session check in its imports where it had %s', async (_name, before, after) => {
    const module = await moduleAfter(moduleWith(before, CORE));

    const written = moduleWith(after, IMPORTS + CORE).replace("common';\n\n", "common';\n");
    expect(await formatted(module ?? '')).toBe(await formatted(written));
  });

  it('keeps its quotes, tabs, line ends and missing semicolons', async () => {
    const imported = 'import { Module } from "@nestjs/common"';
    const before = [imported, '', '@Module({', '\timports: [],', '})', 'export class AppModule {}', ''];

    const module = await moduleAfter(before.join('\r\n'));

    expect(module?.split('\r\n').slice(0, 9)).toEqual([
      imported,
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

  it('keeps its one ConfigModule.forRoot(), wherever in the application that is', async () => {
    const config = "import { ConfigModule } from '@nestjs/config';\n";
    const here = await moduleAfter(
      moduleWith('{\n  imports: [\n    ConfigModule.forRoot(),\n  ],\n}', config),
    );
    const core = moduleWith('{ imports: [ConfigModule.forRoot()] }', config, 'CoreModule');
    const elsewhere = await add(projectWith(moduleWith('{}'), { 'src/core/core.module.ts': core }));

    expect(here).toContain(`    ConfigModule.forRoot(),\n${SESSION_AUTH}`);
    expect(here).toContain("import { ConfigModule, ConfigService } from '@nestjs/config';\n");
    expect(elsewhere.files[MODULE]).toContain(`  imports: [\n${SESSION_AUTH}`);
  });

  it('uses the existing names of its imports', async () => {
    const module = await moduleAfter(
      moduleWith('{}', "import { ConfigModule as Env } from '@nestjs/config';\n"),
    );

    expect(module).toContain("import { ConfigModule as Env, ConfigService } from '@nestjs/config';");
    expect(module).toContain(
      '    Env.forRoot(),\n    SessionAuthModule.forRootAsync({\n      imports: [Env],\n',
    );
  });

  it('gives its import another name if the module had a ConfigModule of its own', async () => {
    const own = "import { ConfigModule } from './config/config.module.js';\n";
    const module = await moduleAfter(moduleWith('{}', own));

    expect(module).toContain('ConfigModule as NestConfigModule');
    expect(module).toContain('imports: [NestConfigModule],');
  });

  it('protects every route when that is asked for, and not when it is declined', async () => {
    const project = projectWith(moduleWith('{}', CONTROLLER));

    const all = await add(project, { protectAllRoutes: true });
    const some = await add(project, { protectAllRoutes: false });

    expect(all.files[MODULE]).toContain('      }),\n      protectAllRoutes: true,\n    }),\n');
    expect(all.said).toContain('@Public()');
    expect(some.files[MODULE]).not.toContain('protectAllRoutes');
    expect(some.said).toContain('@UseGuards(SessionAuthGuard)');
  });
});

describe('an application without a guard of its own', () => {
  it('is protected in every route, and the report says so and why', async () => {
    const comment = '// Later: @UseGuards(AuthGuard), APP_GUARD\n';
    const { files, said } = await add(
      projectWith(moduleWith('{}'), {
        'src/one.ts': comment,
        'src/one.spec.ts': 'app.useGlobalGuards();',
        'dist/two.ts': 'UseGuards',
      }),
    );

    expect(files[MODULE]).toContain('protectAllRoutes: true,');
    expect(said).toContain('Every route then requires a session, except routes with @Public().');
    expect(said).toContain('`protectAllRoutes: true` does that: no guard was found in your code.');
  });
});

describe('an application with a guard of its own', () => {
  it.each([
    [
      'registered globally',
      "import { APP_GUARD } from '@nestjs/core';\nconst guard = { provide: APP_GUARD, useClass: Own };",
    ],
    ['applied by a string', "app['useGlobalGuards'](new Own());"],
  ])('%s keeps it, and the report names the file and the guide', async (_name, text) => {
    const { files, said } = await add(projectWith(moduleWith('{}'), { 'src/auth/own.ts': text }));

    expect(files[MODULE]).toContain('SessionAuthModule.forRootAsync({');
    expect(files[MODULE]).not.toContain('protectAllRoutes');
    expect(said).toContain(
      'Your application has a guard (src/auth/own.ts), so `protectAllRoutes` was left off',
    );
    expect(said).toMatch(/https:\/\/github\.com\/[\w/-]+\/blob\/v\d+\.\d+\.\d+\/docs\/migration\.md\n/);
  });
});
