// Checks the form of the guides: their size, how each begins, that no table row stands twice, that what a sample
// imports is installed on its page, and that a test or a trial runs each sample that names its file.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks, fencesOf } from './code-blocks.mjs';
import { isAppendix } from './llms.mjs';

/** Of all guides, and of the appendices. A word has a letter or a digit: a bracket is none. */
const MAX_WORDS = 18_000;
const MAX_WORDS_OF_APPENDICES = 8_000;
const MAX_LINES_OF_README = 110;
const CONTENTS = 'docs/README.md';
const OPENING = 'You need this if ';
/** First cells that may stand twice, each with the reason. */
const TWICE = new Map([['`timeoutMs`', 'of a check, and of a call to Redis']]);
/** Packages of an application of `nest new`. */
const OF_NEST_NEW = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  '@nestjs/testing',
  'reflect-metadata',
  'rxjs',
  'supertest',
];
/** Tests, which Vitest or Jest runs with the configuration beside them. */
const IS_TEST =
  /^(?:README|quick-start|several-services|testing|libs\/session-auth\/SKILL)\/(?:.*spec|vitest\.config|jest\.config)$/;
/** Files that neither a test nor a trial runs, each with the reason. */
const NOT_RUN = new Map([
  ['redis/single', 'test/fleet/redis-store/guide.e2e-spec.ts runs each section of the page'],
  ['redis/sentinel', 'the same'],
  ['redis/cluster', 'the same'],
  ['redis/tls', 'the same'],
  ['different-service/src/mapped-service', 'test/service/deviating-services.e2e-spec.ts runs its like'],
  ['runtimes/preload', 'npm run test:runtimes preloads it on Deno'],
]);

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const filesIn = (folder, extension) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(extension) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
const guides = ['README.md', ...filesIn('docs', '.md')];
const problems = [
  ...checkSize(),
  ...guides.flatMap(checkOpening),
  ...checkRows(),
  ...guides.flatMap(checkPackages),
  ...checkRuns(),
  ...checkPromises(),
];

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}

function checkSize() {
  const words = wordsOf(guides.filter((page) => !isAppendix(page)));
  const appended = wordsOf(guides.filter(isAppendix));
  const lines = read('README.md').trimEnd().split('\n').length;
  console.log(
    `the guides have ${words} of ${MAX_WORDS} words, the appendices ${appended} of ${MAX_WORDS_OF_APPENDICES}, ` +
      `the README ${lines} of ${MAX_LINES_OF_README} lines`,
  );
  return [
    ...(words > MAX_WORDS ? [`the guides have ${words} words, and at most ${MAX_WORDS} are read`] : []),
    ...(appended > MAX_WORDS_OF_APPENDICES
      ? [`the appendices have ${appended} words of ${MAX_WORDS_OF_APPENDICES}`]
      : []),
    ...(lines > MAX_LINES_OF_README ? [`README.md has ${lines} lines`] : []),
  ];
}

function wordsOf(pages) {
  return pages.flatMap((page) => read(page).match(/\S*[\p{L}\d]\S*/gu)).length;
}

function checkOpening(page) {
  const isGuide = page !== 'README.md' && page !== CONTENTS;
  return isGuide &&
    !read(page)
      .replace(/^# .+\n+/, '')
      .startsWith(OPENING)
    ? [`${page} does not begin with "${OPENING}…"`]
    : [];
}

/** A row that stands twice has two texts sooner or later. */
function checkRows() {
  const seen = new Map();
  const used = new Set();
  const found = guides
    .filter((page) => !isAppendix(page))
    .flatMap((page) =>
      rowsOf(page).flatMap((row) => {
        const earlier = seen.get(row);
        seen.set(row, earlier ?? page);
        if (earlier !== undefined && TWICE.has(row)) used.add(row);
        return earlier === undefined || TWICE.has(row) ? [] : [`${page} has the row "${row}" of ${earlier}`];
      }),
    );
  return [...found, ...unused(TWICE, used)];
}

/** The first cells of the rows of a page, but for figures, which a command writes. */
function rowsOf(page) {
  const lines = read(page)
    .replace(/^```[^]*?^```|<!-- figures: [^]*?<!-- end of figures -->/gm, '')
    .split('\n');
  const rows = lines.filter((line, index) => line.startsWith('|') && !/^\| -/.test(lines[index + 1] ?? ''));
  return rows.map((row) => row.split(/(?<!\\)\|/)[1].trim()).filter((cell) => !/^(?:-*|\*\*.*)$/.test(cell));
}

/** A reader installs what the page says, on top of a new application and the library with its peers. */
function checkPackages(page) {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(read('libs/session-auth/package.json'));
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  const commands = fencesOf(page, 'sh').flatMap(({ text }) => text.match(/npm install .*/g) ?? []);
  const installed = new Set([...OF_NEST_NEW, ...peers, ...commands.flatMap((line) => line.split(/\s+/))]);
  const imported = fencesOf(page, 'ts|js|typescript').flatMap(({ text }) =>
    [...text.matchAll(/(?:^|\s)from '([^'.][^']*)'/g)].map(([, name]) => packageOf(name)),
  );
  return [...new Set(imported)]
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .filter((name) => name !== 'nestjs-session-auth' && !installed.has(name))
    .map((name) => `${page} imports ${name}, and has no line that installs it`);
}

function packageOf(name) {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

/** Follows the imports of the samples that tests and trials name. */
function checkRuns() {
  const blocks = codeBlocks().filter(({ file }) => !/\/block-\d+\.ts$/.test(file));
  const byFile = new Map(blocks.map(({ file, code }) => [file.replace(/\.m?[jt]s$/, ''), code]));
  const runners = [...filesIn('test', '.mjs'), ...filesIn('test', '.ts'), ...filesIn('bench', '.mjs')].map(
    read,
  );
  const runs = runners.join('\n');
  const reached = new Set();
  const reach = (file) => {
    if (!byFile.has(file) || reached.has(file)) return;
    reached.add(file);
    for (const [, target] of byFile.get(file).matchAll(/(?:from |import\()'(\.[^']+?)(?:\.m?js)?'/g))
      reach(join(dirname(file), target));
  };
  for (const file of byFile.keys()) {
    const [page, ...path] = file.split('/');
    const names = [`dist/${file}.js`, `'${page}.md', '${path.join('/')}.`];
    if (names.some((name) => runs.includes(name)) || IS_TEST.test(file)) reach(file);
  }
  const left = [...byFile.keys()].filter((file) => !reached.has(file));
  return [
    ...left
      .filter((file) => !NOT_RUN.has(file))
      .map((file) => `no test and no trial runs ${file} of the guides`),
    ...unused(NOT_RUN, new Set(left)),
  ];
}

/** Each line about what happens in operation names its test. */
function checkPromises() {
  const page = 'docs/operations.md';
  const [, promises = ''] = read(page).split('## What happens when');
  const lines = promises.split(/^(?=- |#)/m).filter((line) => line.startsWith('- '));
  if (lines.length === 0) throw new Error(`${page} has no lines: the check checks nothing`);
  return lines
    .filter((line) => !/\]\(\.\.\/(?:test|libs)\/\S+spec\.ts\)/.test(line))
    .map((line) => `${page} has no test of: ${line}`);
}

function unused(exceptions, used) {
  return [...exceptions.keys()]
    .filter((key) => !used.has(key))
    .map((key) => `an exception is unused: ${key}`);
}
