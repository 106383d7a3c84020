// Bundles an application with the options that docs/runtimes.md lists. It runs in the folder of the
// application, whose bundlers it imports: `node bundling.mjs <bundler> <format> <file>`.
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [bundler, format, file] = process.argv.slice(2);
const isModule = format === 'esm';
/** Packages that the application does not have. Nest itself imports both. */
const ABSENT = /^@nestjs\/(microservices|websockets)(\/|$)/;
const { resolve } = createRequire(join(process.cwd(), 'package.json'));
const load = async (name) => import(pathToFileURL(resolve(name)).href);

const BUNDLERS = {
  async esbuild() {
    const { build } = await load('esbuild');
    const banner = {
      js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);",
    };
    const external = ['@nestjs/microservices', '@nestjs/websockets'];
    const options = {
      entryPoints: ['main.js'],
      bundle: true,
      platform: 'node',
      external,
      outfile: file,
      format,
    };
    await build({ ...options, ...(isModule && { banner }) });
  },
  async rolldown() {
    const { build } = await load('rolldown');
    await build({
      input: 'main.js',
      platform: 'node',
      external: ABSENT,
      output: { file, format, codeSplitting: false },
    });
  },
  webpack: async () => pack((await load('webpack')).default),
  '@rspack/core': async () => pack((await load('@rspack/core')).rspack),
};
await BUNDLERS[bundler]();

/** webpack and rspack have the same options. */
async function pack(bundle) {
  const options = {
    mode: 'production',
    target: 'node20',
    entry: './main.js',
    externalsType: 'import',
    externals: [ABSENT],
    optimization: { minimize: false },
    output: {
      path: dirname(file),
      filename: basename(file),
      ...(isModule && { module: true, chunkFormat: 'module' }),
    },
    ...(isModule && { experiments: { outputModule: true } }),
  };
  const stats = await new Promise((done, fail) =>
    bundle(options, (error, result) => (error ? fail(error) : done(result))),
  );
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
}
