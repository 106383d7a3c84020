import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readRouteSources } from './route-sources.mjs';

// Builds the browser page into page/dist: four files, and nothing that another origin would have to serve.
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dist = here('page/dist');

mkdirSync(dist, { recursive: true });
await build({
  entryPoints: [here('page/page.tsx'), here('page/page.css')],
  outdir: dist,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'inline',
  logLevel: 'warning',
});
copyFileSync(here('page/index.html'), `${dist}/index.html`);
writeFileSync(`${dist}/sources.json`, JSON.stringify(readRouteSources(here('src/backend'))));
