// Proves that each part is one that opens: in a copy of the library, it deletes the folder of one, removes
// the lines that name it and the tests of the rest that use it, checks the types of the rest, and runs unit
// tests of the rest. `npm run parts -- fleet` tries one.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const library = 'libs/session-auth';
/** The folders of plugins, and of a store, below `src`, each with an entry of the same name. */
const ENTRIES = ['sockets', 'redis'];
const LOADER_OF_KINDS = 'module/context-kinds.module.ts';
/** The folders of what is loaded by use, each with one line in a file, or in each of two; `records` with two. */
const LOADERS = {
  audit: ['module/session-auth.module.ts', 'testing/index.ts'],
  gateways: [LOADER_OF_KINDS],
  graphql: [LOADER_OF_KINDS],
  messages: [LOADER_OF_KINDS],
  fleet: ['module/wiring.ts'],
  records: ['module/settings/record-reader.ts'],
};
/** Tests that start an application, and tests of what plugins rely on. */
const SPECS = [
  'guard/missing-module',
  'module/providers',
  'module/session-auth.module',
  'module/unopened-parts',
  'verifier/session-verifier',
  'verifier/session-verifier-shared',
];
/** The tests of the library alone: the configuration of the repository prepares other folders too. */
const JEST_CONFIG = `import { project } from './test/jest.base.mjs';
export default { projects: [project('unit', '${library}/src/**/*.spec.ts')] };
`;

const [, , ...chosen] = process.argv;
const copy = mkdtempSync(join(tmpdir(), 'check-parts-'));
const buildInfo = join(copy, 'whole.tsbuildinfo');
try {
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  copyLibrary();
  checkTypes(buildInfo);
  for (const part of chosen.length > 0 ? chosen : [...ENTRIES, ...Object.keys(LOADERS)]) {
    copyLibrary();
    rmSync(join(copy, library, 'src', part), { recursive: true });
    for (const file of LOADERS[part] ?? []) removeLines(join(copy, library, 'src', file), part);
    if (!LOADERS[part]) removeEntry(part);
    removeSpecsWith(part);
    checkTypesWithoutPart();
    run(
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      ...jest(),
    );
    console.log(
      `without ${part}/, the types of the library are right, and ${SPECS.length} of its suites pass`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
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

/** Checks again only what the deletion changes: the whole was checked in the same place. */
function checkTypesWithoutPart() {
  const ofPart = join(copy, 'part.tsbuildinfo');
  cpSync(buildInfo, ofPart);
  checkTypes(ofPart);
}

function checkTypes(info) {
  run('node_modules/typescript/bin/tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', info);
}

function copyLibrary() {
  rmSync(join(copy, 'libs'), { recursive: true, force: true });
  const tools = readdirSync(join(root, 'test')).filter((name) => name.endsWith('.mjs'));
  for (const path of [
    'package.json',
    'tsconfig.json',
    ...tools.map((name) => `test/${name}`),
    'test/fleet/memory-store.ts',
    'test/support/captured-log.ts',
    'test/support/service-requests.ts',
    'test/support/session-parts.ts',
    'test/support/until.ts',
    'test/support/waiting-sockets.ts',
    `${library}/src`,
  ]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  cpSync(join(root, library, 'package.json'), join(copy, library, 'package.json'));
  writeFileSync(join(copy, 'jest.config.mjs'), JEST_CONFIG);
  edit(join(copy, 'tsconfig.json'), (config) => (config.include = [`${library}/src`]));
}

function removeLines(file, part) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const others = lines.filter((line) => !line.includes(`/${part}/`));
  if (lines.length - others.length !== (part === 'records' ? 2 : 1))
    throw new Error(`${file} names ${part}/ on ${lines.length - others.length} lines`);
  writeFileSync(file, others.join('\n'));
}

/** Deletes the specs of other folders that use a part. */
function removeSpecsWith(part) {
  const sources = join(copy, library, 'src');
  for (const name of readdirSync(sources, { recursive: true })) {
    if (!name.endsWith('.spec.ts') || !readFileSync(join(sources, name), 'utf8').includes(`../${part}/`))
      continue;
    if (SPECS.some((spec) => name === `${spec}.spec.ts`))
      throw new Error(`${name} uses ${part}/, and must run without it`);
    rmSync(join(sources, name));
  }
}

/** Deletes the lines that name an entry: the exports of the package, and the path of the compiler. */
function removeEntry(part) {
  edit(join(copy, library, 'package.json'), ({ exports, typesVersions }) => {
    delete exports[`./${part}`];
    delete typesVersions['*'][part];
  });
  edit(
    join(copy, 'tsconfig.json'),
    (config) => delete config.compilerOptions.paths[`nestjs-session-auth/${part}`],
  );
}

function edit(file, change) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  change(content);
  writeFileSync(file, JSON.stringify(content));
}

function run(...parameters) {
  execFileSync(process.execPath, parameters, { cwd: copy, stdio: ['ignore', 'inherit', 'pipe'] });
}
