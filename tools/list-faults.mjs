// Writes docs/faults.md from the tests whose names end with the tag of a row of the catalogue; with --check, fails when the page is out of date. A row without a test fails.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

/** How many rows each group of the catalogue has. */
const GROUPS = { A: 8, B: 13, C: 14, D: 8, E: 3, F: 5, G: 10, H: 2, I: 4, J: 4, K: 3, L: 2, M: 3, N: 1, O: 6, P: 47, Q: 22 };
/** Rows without an end-to-end test: their remedy is not built yet, or unit specs and the simulation of the fleet hold it (P30, Q14 to Q17). */
const OPEN = new Set(['P30', ...numbered('P', 37, 43), ...numbered('Q', 14, 17), 'Q20']);

const page = fileURLToPath(new URL('../docs/faults.md', import.meta.url));
const folder = fileURLToPath(new URL('../test/', import.meta.url));

/** The name of a test that ends with the tags of its rows, as in `becomes 503 [B04]` or `becomes 503 [B04] [C08]`. */
const TAGGED = /\(\s*(['"`])((?:(?!\1).)+?)((?: \[[A-Z]\d\d\])+)\1,/g;

const tests = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith('.e2e-spec.ts') && !name.includes('node_modules'))
  .sort()
  .flatMap((name) => [...readFileSync(`${folder}${name}`, 'utf8').matchAll(TAGGED)].flatMap((match) => rowsOf(name, match)))
  .sort((one, other) => one.id.localeCompare(other.id));

const rows = Object.entries(GROUPS).flatMap(([group, count]) =>
  Array.from({ length: count }, (_, index) => `${group}${String(index + 1).padStart(2, '0')}`),
);
const tested = new Set(tests.map(({ id }) => id));
const untested = rows.filter((id) => !tested.has(id) && !OPEN.has(id));
const unknown = [...tested].filter((id) => !rows.includes(id));
if (untested.length > 0) fail(`rows without a test: ${untested.join(', ')}`);
if (unknown.length > 0) fail(`tests of rows that the catalogue does not have: ${unknown.join(', ')}`);

const text = await format(
  `# Fault catalogue

Look up what the guard does for each fault of the session service, of a request or of the options.

Each row is a test in \`test/\` whose name ends with the tag of the row, as in \`[B03]\`, on Express and on Fastify, or on one of them where that makes no difference. Every row also checks that the
guard's responses are kept out of caches; that no key, token, IV or password is in a response, a log line or an error; that a guarded handler runs only
after a 200; that the response arrives in time; that no rejection is left unhandled; and that the next good request after the fault gets 200.

| row | behaviour | test |
|---|---|---|
${tests.map(({ id, sentence, name }) => `| ${id} | ${sentence.replace(/__\w+__/g, '`$&`')} | [\`${name.split('.')[0]}\`](../test/${name}) |`).join('\n')}

Written by \`npm run docs:faults\` from the names of the tests.
`,
  { ...(await resolveConfig(page)), parser: 'markdown' },
);

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) fail('docs/faults.md does not list the tests as they are: run npm run docs:faults');
console.log(`${rows.length - OPEN.size} rows of the fault catalogue are tested, by ${tests.length} tests with their tags`);

/** Returns a line of the page for each tag, without the part that differs from case to case. */
function rowsOf(name, [, , text, tags]) {
  const sentence = text.replace(/%s|\$\{[^}]*\}/g, '…');
  return [...tags.matchAll(/[A-Z]\d\d/g)].map(([id]) => ({ id, sentence, name }));
}

/** The rows of a group from one number to another. */
function numbered(group, first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => `${group}${String(first + index).padStart(2, '0')}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
