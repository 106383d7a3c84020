// Builds the library: bundles of ES modules for every current Node, of CommonJS for tools that know no
// `module-sync`; and what `nest add` runs.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { bundleTypes } from './bundle-types.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
const dist = join(home, 'dist');
const compiled = join(dist, 'compiled');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const emit = (...options) =>
  execFileSync(process.execPath, [tsc, '-p', join(home, 'tsconfig.lib.json'), ...options], {
    stdio: 'inherit',
  });

rmSync(dist, { recursive: true, force: true });
// Without the members that only the library calls, and the classes that only those name.
emit('--emitDeclarationOnly', '--stripInternal', '--outDir', compiled);
// The same types twice, because a declaration is of the format that the nearest package.json names.
await bundleTypes(compiled, [join(dist, 'esm'), join(dist, 'cjs')]);
rmSync(compiled, { recursive: true });
writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');

// The documentation lives in the types; what runs needs none.
emit(
  '--outDir',
  compiled,
  '--declaration',
  'false',
  '--removeComments',
  '--noCheck',
  '--importHelpers',
  '--sourceMap',
);
await bundle(compiled, dist);
rmSync(compiled, { recursive: true });
execFileSync(process.execPath, [join(home, 'build-schematics.mjs')], { stdio: 'inherit' });
