// Compiles the simulation with the current sources of the library, or with one of them changed.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { splitAt } from '../mutants/places.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const SOURCES = here('../../libs/session-auth/src/');
/**
 * Replacements for imports of the library that read a clock or a random generator, or that take too much time
 * or memory for many histories.
 */
const SHIMS = {
  'node:crypto': 'shims/crypto.ts',
  'node:timers/promises': 'shims/timers-promises.ts',
  'lru-cache': 'shims/lru-cache.ts',
};

/**
 * Bundles the program of a worker into a file. `bug` is a change to one source file; it must match exactly
 * once.
 */
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
    plugins: [shims, sources(bug, applied)],
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

/** Tables whose size is that of the current history: `const MAX_… = …;` must occur once in the file. */
const LIMITS = {
  'verifier/revocations.ts': ['MAX_USERS', 'MAX_TOKENS'],
  'fleet/outbox.ts': ['MAX_PENDING'],
};

/** Loads the sources of the library, with small tables, and one of them with a bug. */
function sources(bug, applied) {
  return {
    name: 'sources',
    setup({ onLoad }) {
      onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
        const file = path.startsWith(SOURCES) ? path.slice(SOURCES.length) : undefined;
        const limits = LIMITS[file] ?? [];
        if (limits.length === 0 && (file === undefined || file !== bug?.file)) return undefined;
        let source = await readFile(path, 'utf8');
        if (file === bug?.file) {
          source = replaceOnce(source, bug.find, bug.replace, `The bug '${bug.name}'`);
          applied.push(file);
        }
        for (const name of limits) {
          const [constant, value] = new RegExp(`^const ${name} = ([\\d_]+);$`, 'm').exec(source) ?? [];
          const perHistory = `const ${name} = { valueOf: () => globalThis.simulatedLimits?.${name} ?? ${value} };`;
          source = replaceOnce(source, constant ?? name, perHistory, `The limit ${name}`);
        }
        return { contents: source, loader: 'ts' };
      });
    },
  };
}

function replaceOnce(source, find, replacement, what) {
  const pieces = splitAt(source, find);
  if (pieces.length !== 2) throw new Error(`${what} matches ${pieces.length - 1} places`);
  return pieces.join(replacement);
}
