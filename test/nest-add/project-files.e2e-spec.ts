import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { nestAdd, type Answer, type Files } from './nest-add.js';
import { MODULE, moduleWith, projectWith } from './projects.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifestOf = (text = '{}'): Manifest => JSON.parse(text) as Manifest;
const PROJECT = projectWith(moduleWith('{}'));
const INSTALLATION = { name: 'node-package', options: { command: 'install', quiet: true, hideOutput: true } };
const installations = ({ tasks }: Answer): object[] => tasks.filter(({ name }) => name === 'node-package');

const withManifest = (manifest: object): Files => ({ ...PROJECT, 'package.json': JSON.stringify(manifest) });

describe('package.json after nest add', () => {
  const add = nestAdd();

  it.each([
    ['11', { '@nestjs/axios': '^4.0.0', '@nestjs/config': '^4.0.0' }],
    ['12', { '@nestjs/axios': '^12.0.0', '@nestjs/config': '^12.0.0' }],
  ])('names what the session check needs on Nest %s', async (major, ofNest) => {
    const { files } = await add(withManifest({ dependencies: { '@nestjs/core': `~${major}.1.0` } }));

    const { dependencies } = manifestOf(files['package.json']);
    const ofAll = { axios: '^1.8.0', 'class-transformer': '^0.5.1', 'class-validator': '^0.15.0' };
    expect(dependencies).toEqual({ '@nestjs/core': `~${major}.1.0`, ...ofNest, ...ofAll });
    expect(Object.keys(dependencies)).toEqual(Object.keys(dependencies).sort());
  });

  it('names every peer of the package that is not optional and not in every Nest application, within the range of the package', async () => {
    const manifest = readFileSync(join(import.meta.dirname, '../../libs/session-auth/package.json'), 'utf8');
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(manifest) as Manifest & { peerDependenciesMeta: object };
    const { files } = await add(PROJECT);

    const { dependencies } = manifestOf(files['package.json']);
    const inEvery = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];
    const needed = Object.entries(peerDependencies).filter(([name]) => !inEvery.includes(name) && !(name in peerDependenciesMeta));
    expect(needed).toHaveLength(4);
    for (const [name, range] of needed) expect(range.split(' || ')).toContain(dependencies[name]);
  });

  it('follows the Nest that is installed where the range leaves it open', async () => {
    const installed = { 'node_modules/@nestjs/core/package.json': '{ "version": "11.1.2" }' };

    const { files } = await add({ ...withManifest({ dependencies: { '@nestjs/core': '>=10' } }), ...installed });

    expect(manifestOf(files['package.json']).dependencies['@nestjs/config']).toBe('^4.0.0');
  });

  it('keeps what it named, its indentation and its last line', async () => {
    const before =
      '{\n\t"dependencies": {\n\t\t"@nestjs/core": "^12.0.0",\n\t\t"axios": "1.9.0"\n\t},\n\t"devDependencies": {\n\t\t"class-validator": "*"\n\t}\n}\n';

    const { files } = await add({ ...PROJECT, 'package.json': before });

    expect(files['package.json']).toMatch(/^\{\n\t"dependencies": \{\n\t\t"@nestjs\/axios".*\n\}\n$/s);
    expect(files['package.json']).toContain('"axios": "1.9.0"');
    expect(files['package.json']?.match(/class-validator/g)).toHaveLength(1);
  });

  it('keeps its line ends', async () => {
    const { files } = await add({ ...PROJECT, 'package.json': '{\r\n  "name": "app"\r\n}\r\n' });

    expect(files['package.json']).toMatch(/^\{\r\n {2}"name": "app",\r\n/);
    expect(files['package.json']?.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('is installed by the package manager of the project', async () => {
    expect(installations(await add(PROJECT))).toEqual([INSTALLATION]);
    expect(installations(await add({ ...PROJECT, 'bun.lock': '' }))).toEqual([
      { ...INSTALLATION, options: { ...INSTALLATION.options, packageManager: 'bun' } },
    ]);
  });

  it('is left to the user to install with --skip-install, who is told', async () => {
    const answer = await add(PROJECT, { skipInstall: true });

    expect(installations(answer)).toEqual([]);
    expect(answer.said).toContain('1. Install the packages that were added to package.json: @nestjs/axios, @nestjs/config, axios');
  });
});

describe('.env.example after nest add', () => {
  const add = nestAdd();

  it('shows both variables without values, and .env is not there', async () => {
    const { files } = await add(PROJECT);

    expect(files['.env.example']).toMatch(/^#.*\nSESSION_SERVICE_URL=\n#.*\nSESSION_SERVICE_API_KEY=\n$/);
    expect(files).not.toHaveProperty('.env');
  });

  it('keeps what it had, and .env is as it was', async () => {
    const before = { '.env': 'PORT=1', '.env.example': 'PORT=3000\nSESSION_SERVICE_URL=https://sessions.test' };

    const { files } = await add({ ...PROJECT, ...before });

    expect(files['.env.example']).toMatch(/^PORT=3000\nSESSION_SERVICE_URL=https:\/\/sessions[.]test\n\n#.*\nSESSION_SERVICE_API_KEY=\n$/);
    expect(files['.env']).toBe('PORT=1');
  });
});

describe('nest add, once more', () => {
  const add = nestAdd();

  it('changes nothing, installs nothing and says so', async () => {
    const { files } = await add(PROJECT);

    const again = await add(files);

    expect(again.files).toEqual(files);
    expect(installations(again)).toEqual([]);
    expect(again.said).toContain(`SessionAuthModule is already registered in ${MODULE}. Your code is unchanged.`);
  });

  it('with --protect-all-routes leaves that to the user, and says so', async () => {
    const { files } = await add(PROJECT);

    const again = await add(files, { protectAllRoutes: true });

    expect(again.files).toEqual(files);
    expect(again.said).toContain(`Add \`protectAllRoutes: true\` to it in ${MODULE}.`);
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
