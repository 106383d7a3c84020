// Type-checks every TypeScript block of the README and of docs/, each as a file of its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks } from './code-blocks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/docs-code');
const library = '../../libs/session-auth/src';
/** What a test runner puts there. */
const RUNNER = ['afterAll', 'beforeAll', 'describe', 'expect', 'it'];

rmSync(target, { recursive: true, force: true });
const blocks = codeBlocks().filter(({ language }) => language === 'ts');
for (const { file, code } of blocks) {
  mkdirSync(join(target, dirname(file)), { recursive: true });
  writeFileSync(join(target, file), `import 'reflect-metadata';\n${code}\nexport {};\n`);
}
const globals = RUNNER.map((name) => `  const ${name}: typeof import('@jest/globals').${name};\n`).join('');
writeFileSync(join(target, 'runner.d.ts'), `declare global {\n${globals}}\nexport {};\n`);
writeFileSync(
  join(target, 'tsconfig.json'),
  JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions: {
      paths: {
        'nestjs-session-auth': [`${library}/index.ts`],
        'nestjs-session-auth/*': [`${library}/*/index.ts`],
      },
      strictPropertyInitialization: false,
    },
    include: ['**/*.ts', `${library}/contract/*.d.ts`],
    exclude: [],
  }),
);
execFileSync('npx', ['tsc', '-p', target], { cwd: root, stdio: 'inherit' });
console.log(`${blocks.length} code blocks of the documentation compile`);
