// Loads a source of the library, for checks that compare a page with what the code says.
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Imports a source by its place below `libs/session-auth/src`, with what it imports of the library. */
export async function importSource(place) {
  const outfile = join(root, 'dist/imported', `${basename(place, '.ts')}.mjs`);
  await build({
    entryPoints: [join(root, 'libs/session-auth/src', place)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    keepNames: true,
    tsconfig: join(root, 'tsconfig.json'),
  });
  return import(outfile);
}
