// Compiles the simulation with the current sources of the library, or with one of them changed.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const SOURCES = here('../../libs/session-auth/src/');
/** Replacements for imports of the library that read a clock or a random generator, or that take too much time or memory for many histories. */
const SHIMS = { 'node:crypto': 'shims/crypto.ts', 'node:timers/promises': 'shims/timers-promises.ts', 'lru-cache': 'shims/lru-cache.ts' };

/** Bundles the program of a worker into a file. `bug` is a change to one source file; it must match exactly once. */
export async function bundleWorker(outfile, bug) {
  const applied = [];
  await build({
    entryPoints: [here('worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    plugins: [shims, ...(bug ? [withBug(bug, applied)] : [])],
  });
  if (bug && applied.length !== 1) throw new Error(`${bug.file} is not loaded`);
}

const shims = {
  name: 'shims',
  setup({ onResolve }) {
    onResolve({ filter: /^(node:crypto|node:timers\/promises|lru-cache)$/ }, ({ path, importer }) =>
      importer.startsWith(SOURCES) ? { path: here(SHIMS[path]) } : { path, external: true },
    );
  },
};

function withBug({ name, file, find, replace }, applied) {
  return {
    name: 'bug',
    setup({ onLoad }) {
      onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
        if (path !== SOURCES + file) return undefined;
        const source = await readFile(path, 'utf8');
        const matches = source.split(find).length - 1;
        if (matches !== 1) throw new Error(`The bug '${name}' matches ${matches} places of ${file}`);
        applied.push(file);
        return { contents: source.replace(find, () => replace), loader: 'ts' };
      });
    },
  };
}
