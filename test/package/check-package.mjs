// Installs the packed tarball as a user would, in four applications that have nothing else; type-checks each,
// runs it and asks it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APPS, layOut } from './apps.mjs';
import { checkCommands } from './check-commands.mjs';
import { checkGuides } from './check-guides.mjs';
import { checkNestAdd } from './check-nest-add.mjs';
import { checkTarball } from './check-tarball.mjs';
import { checkOlderNest, checkTransitiveNest } from './check-transitive-nest.mjs';
import { inFolder, INSTALL, run } from './steps.mjs';
import { theTarball, theTarballOfCommands } from './tarball.mjs';

/**
 * Libraries that serve one feature; an application without that feature has none of them. Optional peers are
 * added below.
 */
const FEATURES = ['graphql', 'websockets', 'microservices', 'terminus', 'swagger'].map(
  (name) => `@nestjs/${name}`,
);
const OPTIONAL = [...FEATURES, '@opentelemetry/api', 'ioredis'];
const root = fileURLToPath(new URL('../..', import.meta.url));
const tarball = theTarball();
const commands = theTarballOfCommands();

checkTarball(tarball);

// In the short form, each version of NestJS with one module format; nothing of what npm and the schematic do.
const isLong = process.env.LONG_TESTS === '1';
const apps = APPS.filter(({ isInShortForm }) => isInShortForm || isLong).map(check);
// Most of their time is that of npm, which waits for the registry.
const others = Promise.all([
  ...(isLong ? [checkTransitiveNest(tarball), checkOlderNest(tarball), checkNestAdd(tarball)] : []),
  checkCommands(commands),
  run(root, 'npx', 'publint', 'run', tarball, '--strict'),
  run(root, 'npx', 'attw', tarball),
  ...apps,
]);
await Promise.all([others, checkGuides(tarball, commands, others)]);

/** One application, from an empty folder to its answers. */
async function check(app) {
  const began = performance.now();
  await inFolder('app', async (folder) => {
    layOut(app, folder, tarball);
    await run(folder, 'npm', ...INSTALL, '--no-package-lock');
    nothingOptionalIn(folder);
    for (const options of app.tscOptions) {
      await run(folder, 'npx', 'tsc', '-p', '.', ...options);
      await run(folder, process.execPath, 'dist/main.js');
    }
    for (const first of ['require', 'import']) await run(folder, process.execPath, 'one-class.cjs', first);
  });
  console.log(
    `${app.name}: installs, type-checks and runs (${Math.round((performance.now() - began) / 1000)} s)`,
  );
}

/** Fails if a package is installed that neither the types nor the running application need. */
function nothingOptionalIn(folder) {
  const required = createRequire(join(folder, 'package.json'));
  const { peerDependenciesMeta } = required('nestjs-session-auth/package.json');
  for (const library of new Set([...OPTIONAL, ...Object.keys(peerDependenciesMeta)])) {
    try {
      required.resolve(library);
    } catch (error) {
      if (error.code === 'MODULE_NOT_FOUND') continue;
    }
    throw new Error(`${library} is installed, although no dependency needs it`);
  }
}
