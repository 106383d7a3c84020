// Writes docs/faults.md from the tests whose names end with the tag of a row of the catalogue; with --check,
// fails when the page is out of date. A row that is neither tested nor gone fails.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from './markdown.mjs';

/** How many rows each group of the catalogue has. */
const GROUPS = {
  A: 8,
  B: 13,
  C: 14,
  D: 8,
  E: 3,
  F: 5,
  G: 10,
  H: 2,
  I: 4,
  J: 4,
  K: 3,
  L: 2,
  M: 3,
  N: 1,
  O: 6,
  P: 77,
  Q: 22,
};
/** Rows whose subject the library no longer has, and why. */
const GONE = {
  P42: 'the audit does not read which guards of an application need the user: the order of `APP_GUARD` decides',
  Q01: 'no instance waits for the call of another: each makes its own',
  Q10: 'no instance waits for the call of another: each makes its own',
};
const root = fileURLToPath(new URL('..', import.meta.url));
const page = `${root}docs/faults.md`;

/**
 * The name of a test that ends with the tags of its rows, as in `becomes 503 [B04]` or `becomes 503 [B04]
 * [C08]`.
 */
const TAGGED = /\(\s*(['"`])((?:(?!\1).)+?)((?: \[[A-Z]\d\d\])+)\1,/g;

const suites = [...filesIn('test/', '.e2e-spec.ts'), ...filesIn('libs/session-auth/src/', '.spec.ts')].map(
  (file) => {
    const source = readFileSync(root + file, 'utf8');
    return {
      file,
      name: file.replace(/^(test|libs\/session-auth\/src)\/|[.](e2e-)?spec[.]ts$/g, ''),
      found: [...source.matchAll(TAGGED)],
    };
  },
);
const tests = suites
  .flatMap((suite) => suite.found.flatMap((match) => rowsOf(suite, match)))
  .sort((one, other) => one.id.localeCompare(other.id));

const rows = Object.entries(GROUPS).flatMap(([group, count]) =>
  Array.from({ length: count }, (_, index) => `${group}${String(index + 1).padStart(2, '0')}`),
);
const tested = new Set(tests.map(({ id }) => id));
const summaries = rows.filter((id) => tested.has(id)).map(summaryOf);
const untested = rows.filter((id) => !tested.has(id) && !(id in GONE));
const stillTested = Object.keys(GONE).filter((id) => tested.has(id));
const unknown = [...tested].filter((id) => !rows.includes(id));
if (untested.length > 0) fail(`rows without a test: ${untested.join(', ')}`);
if (stillTested.length > 0) fail(`tests of rows whose subject is gone: ${stillTested.join(', ')}`);
if (unknown.length > 0) fail(`tests of rows that the catalogue does not have: ${unknown.join(', ')}`);

const text = await formatMarkdown(
  `# Fault catalogue

You need this if you look up what the guard does for a fault of the session service, of a request or of the options.

A row shows the name of one of its tests and links every suite that has one. The names of the tests end with the tag of the row, as in \`[B03]\`. The tests run on Express and on Fastify, or on one of them where that makes no difference.

Every end-to-end test of a row also checks that:

- the guard's responses are kept out of caches;
- no key, token, IV or password is in a response, a log line or an error;
- a guarded handler runs only after a 200;
- the response arrives in time;
- no rejection is left unhandled;
- the next good request after the fault gets 200.

| row | behaviour | suites |
|---|---|---|
${summaries.map(({ id, sentence, links }) => `| ${id} | ${sentence} | ${links.join(', ')} |`).join('\n')}

## What does not always run

A test is skipped where a program that it needs, such as Redis, is not installed. With \`REQUIRE_SERVICES=1\`, as in CI, it fails instead.

\`npm test\` runs the short form, and \`npm run test:long\` everything. \`node test/left-out.mjs\` lists what the last run left out.

The subject of these rows is gone:

| row | why |
|---|---|
${Object.entries(GONE)
  .map(([id, why]) => `| ${id} | ${why} |`)
  .join('\n')}

Written by \`npm run docs:faults\` from the names of the tests.
`,
);

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text)
  fail('docs/faults.md does not list the tests as they are: run npm run docs:faults');
console.log(
  `${tested.size} rows of the fault catalogue are tested, by ${tests.length} tests with their tags`,
);

/** Returns the files below a folder whose names end so. */
function filesIn(folder, ending) {
  return readdirSync(root + folder, { recursive: true })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .sort()
    .map((name) => folder + name);
}

/** Returns a test for each tag, its name without the part that differs from case to case. */
function rowsOf(suite, [, , text, tags]) {
  const sentence = text.replace(/%[a-z]|\$\{[^}]*\}|\$\w+/g, '…');
  return [...tags.matchAll(/[A-Z]\d\d/g)].map(([id]) => ({ id, sentence, suite }));
}

function linkTo({ file, name }) {
  return `[\`${name}\`](../${file})`;
}

/** Returns the one line of a row: the name of a test, the same for all cases if one is, and every suite. */
function summaryOf(id) {
  const ofRow = tests.filter((test) => test.id === id);
  const shown = ofRow.find(({ sentence }) => !sentence.includes('…')) ?? ofRow[0];
  return {
    id,
    sentence: shown.sentence.replace(/__\w+__/g, '`$&`'),
    links: [...new Set(ofRow.map(({ suite }) => linkTo(suite)))],
  };
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
