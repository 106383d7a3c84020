// Builds what `nest add` runs: one CommonJS file that needs nothing but Node, with its two descriptions
// beside it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const source = fileURLToPath(new URL('schematics', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [target = fileURLToPath(new URL('dist/schematics', import.meta.url))] = process.argv.slice(2);

buildSync({
  entryPoints: [`${source}/nest-add.ts`],
  outfile: `${target}/index.cjs`,
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  define: { VERSION: JSON.stringify(version) },
});
for (const file of ['collection.json', 'schema.json']) {
  writeFileSync(`${target}/${file}`, JSON.stringify(JSON.parse(readFileSync(`${source}/${file}`, 'utf8'))));
}
