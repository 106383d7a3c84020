// Visits every state of the model within its bounds. With --short, as the suite does; with --bugs, finds a counter-example to each deliberate bug.
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = here('../../dist/model/');
await mkdir(folder, { recursive: true });
const program = `${folder}${process.pid}.mjs`;
await build({
  entryPoints: [here('main.ts')],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'error',
});
try {
  await import(program);
} finally {
  await rm(program, { force: true });
}
