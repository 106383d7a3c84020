// Builds the commands, by default into dist: ES modules that hold the parts of the library they use, one
// chunk for each subcommand.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const home = fileURLToPath(new URL('.', import.meta.url));
const [target = `${home}dist`] = process.argv.slice(2);

rmSync(target, { recursive: true, force: true });
buildSync({
  entryPoints: [`${home}src/nestjs-session-auth-cli.ts`],
  outdir: target,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  // The annotation of the library names files of its build, and here its sources are bundled.
  ignoreAnnotations: true,
  tsconfig: `${home}../../tsconfig.json`,
  logLevel: 'warning',
});
