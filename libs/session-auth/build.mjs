// Builds the library twice: ES modules for every current Node, CommonJS for tools that know no `module-sync`; and what `nest add` runs.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('.', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(`${home}dist`, { recursive: true, force: true });
for (const project of ['tsconfig.lib.json', 'tsconfig.cjs.json']) {
  const emit = (...options) => execFileSync(process.execPath, [tsc, '-p', `${home}${project}`, ...options], { stdio: 'inherit' });
  emit('--emitDeclarationOnly');
  // The documentation lives in the types; what runs needs none.
  emit('--declaration', 'false', '--removeComments', '--noCheck');
}
writeFileSync(`${home}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
execFileSync(process.execPath, [`${home}build-schematics.mjs`], { stdio: 'inherit' });
await import('./prune-types.mjs');
