import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readRouteSources } from './route-sources.mjs';

// Builds the browser page into page/dist: four files, which load nothing from another origin.
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = here('page/dist');

mkdirSync(dist, { recursive: true });
const { outputFiles } = await build({
  entryPoints: [here('page/page.tsx'), here('page/page.css')],
  outdir: dist,
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'inline',
  logLevel: 'warning',
});
for (const { path, contents } of outputFiles) put(basename(path), contents);
put('index.html', readFileSync(here('page/index.html')));
put('sources.json', JSON.stringify(readRouteSources(here('src/backend'))));

/** Replaces a file atomically: a demo that starts meanwhile reads the old file or the new one. */
function put(name, contents) {
  writeFileSync(`${dist}/.${name}`, contents);
  renameSync(`${dist}/.${name}`, `${dist}/${name}`);
}
