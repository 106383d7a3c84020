// Proves that each plugin is a part that opens: in a copy of the library, it deletes the folder of one, removes the lines of its entry, checks
// the types of the rest, and runs unit tests of the rest.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const library = 'libs/session-auth';
/** The folders below `src`, each with an entry of the same name. */
const PARTS = ['context', 'sockets'];
/** Tests that start an application, and tests of what plugins rely on. */
const SPECS = ['guard/session-auth.guard', 'module/providers', 'module/session-auth.module', 'module/authorities/unopened-parts'];
/** The tests of the library alone: the configuration of the repository prepares other folders too. */
const JEST_CONFIG = `import { project } from './test/jest.base.mjs';
export default { projects: [project('unit', '${library}/src/**/*.spec.ts')] };
`;

for (const part of PARTS) {
  const copy = copyOfLibrary();
  try {
    removePart(copy, part);
    run(copy, 'node_modules/typescript/bin/tsc', '--noEmit');
    run(copy, '--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', ...jest());
    console.log(`without ${part}/, the types of the library are right, and ${SPECS.length} of its suites pass`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function jest() {
  return [
    '--selectProjects',
    'unit',
    '--maxWorkers=1',
    '--silent',
    '--runTestsByPath',
    ...SPECS.map((spec) => `${library}/src/${spec}.spec.ts`),
  ];
}

function copyOfLibrary() {
  const copy = mkdtempSync(join(tmpdir(), 'check-parts-'));
  const tools = readdirSync(join(root, 'test')).filter((name) => name.endsWith('.mjs'));
  for (const path of ['package.json', 'tsconfig.json', ...tools.map((name) => `test/${name}`), `${library}/src`]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  cpSync(join(root, library, 'package.json'), join(copy, library, 'package.json'));
  writeFileSync(join(copy, 'jest.config.mjs'), JEST_CONFIG);
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Deletes a folder, and the lines that name it: the exports of the package, and the path of the compiler. */
function removePart(copy, part) {
  rmSync(join(copy, library, 'src', part), { recursive: true });
  edit(join(copy, library, 'package.json'), ({ exports, typesVersions }) => {
    delete exports[`./${part}`];
    delete typesVersions['*'][part];
  });
  edit(join(copy, 'tsconfig.json'), (config) => {
    delete config.compilerOptions.paths[`nestjs-session-auth/${part}`];
    config.include = [`${library}/src`];
  });
}

function edit(file, change) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  change(content);
  writeFileSync(file, JSON.stringify(content));
}

function run(cwd, ...parameters) {
  execFileSync(process.execPath, parameters, { cwd, stdio: ['ignore', 'inherit', 'pipe'] });
}
