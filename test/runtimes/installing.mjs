// Installs runtimes from the npm registry, each into its own folder.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { install, output } from '../package/steps.mjs';

/** Every supported runtime, as an npm package that installs a binary. */
const RUNTIMES = [
  { label: 'Node.js', name: 'node', range: '20.19', binary: 'node/bin/node' },
  { label: 'Node.js', name: 'node', range: '22', binary: 'node/bin/node' },
  { label: 'Node.js', name: 'node', range: '24', binary: 'node/bin/node' },
  { label: 'Node.js', name: 'node', range: '26', binary: 'node/bin/node' },
  // Its require() waits forever for an ES module that imports a large CommonJS package which it has not
  // analysed yet.
  {
    label: 'Deno',
    name: 'deno',
    range: '2',
    binary: 'deno/deno',
    args: ['run', '--allow-all'],
    commonjs: ['--preload', 'preload.mjs'],
  },
  { label: 'Bun', name: 'bun', range: '1', binary: 'bun/bin/bun.exe' },
];

/** Installs every runtime whose package and range contain the filter. Returns their commands and versions. */
export function installRuntimes(folder, filter) {
  const wanted = RUNTIMES.filter(({ name, range }) => `${name}@${range}`.includes(filter));
  return Promise.all(wanted.map((runtime) => installRuntime(folder, runtime)));
}

async function installRuntime(folder, { label, name, range, binary, args = [], commonjs = [] }) {
  const home = join(folder, `${name}-${range}`);
  const command = join(home, 'node_modules', binary);
  if (!existsSync(command))
    await install(home, { dependencies: { [name]: range }, allowScripts: { [name]: true } });
  const said = await output(home, command, ['--version']);
  const [version] = /\d+[.]\d+[.]\d+/.exec(said) ?? [];
  if (!version?.startsWith(`${range}.`)) throw new Error(`${name}@${range} says that it is ${said}`);
  return { label: `${label} ${version}`, command, args: { module: args, commonjs: [...args, ...commonjs] } };
}
