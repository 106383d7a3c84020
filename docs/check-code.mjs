// Type-checks every TypeScript block of the README and of docs/, each as a file of its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/docs-code');
const pages = [
  'README.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
let blocks = 0;
for (const page of pages) {
  for (const [index, [, code]] of [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries()) {
    writeFileSync(join(target, `${page.replace(/\W+/g, '-')}-${index + 1}.ts`), `import 'reflect-metadata';\n${code}\nexport {};\n`);
    blocks += 1;
  }
}
if (blocks === 0) throw new Error('no code block was found: the check checks nothing');
writeFileSync(
  join(target, 'tsconfig.json'),
  JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions: {
      paths: {
        'nestjs-session-auth': ['../../libs/session-auth/src/index.ts'],
        'nestjs-session-auth/opentelemetry': ['../../libs/session-auth/src/opentelemetry/index.ts'],
        'nestjs-session-auth/redis': ['../../libs/session-auth/src/redis/index.ts'],
        'nestjs-session-auth/swagger': ['../../libs/session-auth/src/swagger/index.ts'],
        'nestjs-session-auth/terminus': ['../../libs/session-auth/src/terminus/index.ts'],
        'nestjs-session-auth/testing': ['../../libs/session-auth/src/testing/index.ts'],
      },
      strictPropertyInitialization: false,
    },
    include: ['*.ts', '../../libs/session-auth/src/contract/*.d.ts'],
    exclude: [],
  }),
);
execFileSync('npx', ['tsc', '-p', target], { cwd: root, stdio: 'inherit' });
console.log(`${blocks} code blocks of the documentation compile`);
