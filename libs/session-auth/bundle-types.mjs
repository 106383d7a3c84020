// Bundles the declarations: a file for each entry, next to its code, and three for what entries share.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const home = fileURLToPath(new URL('.', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
/** The files of the folders of which too little is public for one of their own. */
const SHARED = {
  kinds: 'guard',
  exceptions: 'layers',
  client: 'layers',
  verifier: 'layers',
  audit: 'layers',
};
const names = Object.keys(exports).filter((name) => exports[name].import);

/**
 * @param declared - folder of the declarations that tsc wrote
 * @param folders - those that get the bundles, the same in each
 */
export async function bundleTypes(declared, folders) {
  const input = Object.fromEntries(
    names.map((name) => [name === '.' ? 'index' : name.slice(2), join(declared, name, 'index.d.ts')]),
  );
  const entries = new Set(Object.values(input));
  const bundled = await rollup({
    input,
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    plugins: [dts()],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  for (const dir of folders) {
    await bundled.write({
      dir,
      format: 'es',
      entryFileNames: '[name].d.ts',
      chunkFileNames: 'types/[name].d.ts',
      // npm packs files of one name side by side, and gzip looks back 32 kB: below that, the second copy of a
      // file costs little.
      manualChunks: (id) => {
        const [folder] = relative(declared, id).split(sep);
        return folder in input || entries.has(id) ? undefined : (SHARED[folder] ?? folder);
      },
      hoistTransitiveImports: false,
      minifyInternalExports: false,
    });
  }
  await bundled.close();
}
