// Bundles the compiled library once for each format: a file for each entry, over shared chunks, and a chunk
// for what is loaded late.
import { readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';

const home = fileURLToPath(new URL('.', import.meta.url));
const tslib = join(dirname(createRequire(import.meta.url).resolve('tslib')), 'tslib.es6.mjs');
const { exports, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync(join(home, 'package.json'), 'utf8'),
);
const packages = Object.keys({ ...dependencies, ...peerDependencies, ...peerDependenciesMeta });

const FORMATS = { esm: 'es', cjs: 'cjs' };
/** A chunk of its own, because an ES module loads the packages that it imports before its first line runs. */
const FIRST = 'contract/supported-node.js';
/** Loaded late; the test kit shares a part of it. */
const AUDIT = 'audit/boot-audit.js';
/** Chunks of files that are loaded late and together, of which rollup would make one for each file, or too large a one. */
const LATE = {
  contexts: /^(kinds|guard|exceptions)\//,
  watched: /^open\/watched-/,
  policies: /^policies\//,
  'store-access': /^(module\/store-wiring|fleet\/(store-access|session-seal))\.js$/,
};

/**
 * @param compiled - folder of the ES modules that tsc wrote, with their source maps
 * @param target - folder that gets a folder for each format
 */
export async function bundle(compiled, target) {
  const input = entriesOf(compiled);
  const bundled = await rollup({
    input,
    external: (id) =>
      id.startsWith('node:') || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [filesOf(compiled)],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  for (const [folder, format] of Object.entries(FORMATS)) {
    await bundled.write({
      dir: join(target, folder),
      format,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      manualChunks: chunksOf(compiled, input.index),
      hoistTransitiveImports: false,
      minifyInternalExports: false,
      // Jest has no `import()` in CommonJS.
      dynamicImportInCjs: false,
      exports: 'named',
      interop: 'auto',
      externalLiveBindings: false,
      generatedCode: { preset: 'es2015', symbols: false },
      // Not published: tools/measure-budgets.mjs reads from them which source file a function is from.
      sourcemap: 'hidden',
    });
  }
  await bundled.close();
}

/** The compiled files of the entries in package.json, by the names of their bundles. */
function entriesOf(compiled) {
  const bundles = Object.values(exports).flatMap((conditions) => conditions.import?.default ?? []);
  const names = bundles.map((file) => basename(file, '.js')).filter((name) => name !== 'index');
  // rollup lets entries run in the order of their paths. The main entry is the first: its first lines refuse
  // an old NestJS.
  const first = join(compiled, '0.js');
  renameSync(join(compiled, 'index.js'), first);
  return {
    index: first,
    ...Object.fromEntries(names.map((name) => [name, join(compiled, name, 'index.js')])),
  };
}

function filesOf(compiled) {
  return {
    name: 'files-of-the-library',
    resolveId(id, importer) {
      if (id === 'tslib') return tslib;
      return id.startsWith('.') && importer ? resolve(dirname(importer), id) : undefined;
    },
    load(id) {
      if (!id.startsWith(compiled)) return undefined;
      const [, map] = readFileSync(id, 'utf8').match(/\/\/# sourceMappingURL=(.+)/);
      return { code: readFileSync(id, 'utf8'), map: readFileSync(resolve(dirname(id), map), 'utf8') };
    },
  };
}

/**
 * Two chunks that the entries share: the contract, which needs no Nest, and all else that the main entry
 * imports. What they do not import is in one more if several late parts share it, and so is the audit.
 */
function chunksOf(compiled, main) {
  const audit = join(compiled, AUDIT);
  let [imported, audited] = [];
  return (id, { getModuleInfo }) => {
    imported ??= importedBy(main, getModuleInfo);
    audited ??= importedBy(audit, getModuleInfo).add(audit);
    if (!imported.has(id)) {
      const file = id.slice(compiled.length + 1);
      const late = Object.keys(LATE).find((name) => LATE[name].test(file));
      return late ?? (audited.has(id) ? 'audit' : undefined);
    }
    if (id === join(compiled, FIRST)) return 'supported-node';
    return id === tslib || id.startsWith(join(compiled, 'contract/')) ? 'contract' : 'core';
  };
}

/** The files that a file imports, and those that they import; not what `import()` loads. */
function importedBy(file, getModuleInfo) {
  const found = new Set();
  const open = [...getModuleInfo(file).importedIds];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const { isExternal, importedIds } = getModuleInfo(id);
    if (isExternal || found.has(id)) continue;
    found.add(id);
    open.push(...importedIds);
  }
  return found;
}
