// Compares the defaults that the TSDoc and the guides state with the schema that the library reads options by.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { importSource } from './import-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (name) => join(root, 'libs/session-auth/src', name);

const { DEFAULTS } = await importSource('module/settings/option-table.ts');
/** Groups of options, whose members are compared on their own, and options whose default is a sentence. */
const GROUPS = new Set(['cache', 'store', 'http', 'statusMap', 'baseUrl', 'apiKey', 'ttlMs']);
const problems = [];
let compared = 0;

/** Interfaces whose members are options, with the place of their defaults. */
const INTERFACES = [
  ['module/options/options.ts', 'SessionAuthOptions', DEFAULTS],
  ['module/options/options.ts', 'SessionAuthCacheOptions', DEFAULTS.cache],
  ['module/options/options.ts', 'SessionAuthExtras', DEFAULTS],
  ['module/options/options.ts', 'SessionAuthHttpOptions', DEFAULTS.http],
  ['verifier/circuit-breaker.ts', 'BreakerSettings', DEFAULTS.breaker],
  ['verifier/lanes.ts', 'RetrySettings', DEFAULTS.retry],
  ['guard/transport.ts', 'WhileOpen', DEFAULTS.whileOpen],
  ['contract/session-store.ts', 'SessionStore', DEFAULTS.store],
  ['redis/options.ts', 'RedisSessionStoreOptions', DEFAULTS.store],
];
for (const [file, name, defaults] of INTERFACES) await compareTsDoc(file, name, defaults);

/** Tables whose first column is an option and whose second is its default. */
const TABLES = [
  ['docs/configuration.md', DEFAULTS],
  ['docs/caching.md', DEFAULTS.cache],
  ['docs/fleet.md', DEFAULTS.store],
];
for (const [file, defaults] of TABLES) await compareTables(file, defaults);

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${compared} stated defaults are those of DEFAULTS`);

async function compareTsDoc(file, name, defaults) {
  const text = await readFile(source(file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const declaration = tree.statements.find((statement) => statement.name?.text === name);
  if (!declaration) return void problems.push(`${file} declares no ${name}`);
  const stated = new Map(
    declaration.members.map((member) => [member.name?.getText(tree), statedDefault(member)]),
  );
  for (const [option, value] of Object.entries(defaults)) {
    if (stated.has(option) && !GROUPS.has(option))
      compare(`${file}: @default of ${option}`, stated.get(option), value);
  }
}

function statedDefault(member) {
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
  return tag && ts.getTextOfJSDocComment(tag.comment);
}

async function compareTables(file, defaults) {
  const text = await readFile(join(root, file), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` +\| ([^|]+) +\|/gm)];
  const found = rows.filter(
    ([, option]) => option in defaults && option !== 'breaker' && !GROUPS.has(option),
  );
  if (found.length === 0) problems.push(`${file} has no table of options`);
  for (const [, option, stated] of found)
    compare(`${file}: default of ${option}`, stated.trim().replace(/`/g, ''), defaults[option]);
  for (const [, limit, stated] of text.matchAll(/`(maxResponseBytes|maxTokenLength)` \((\d+)\)/g)) {
    compare(`${file}: default of http.${limit}`, stated, DEFAULTS.http[limit]);
  }
}

function compare(place, stated, value) {
  compared += 1;
  const expected = textOf(value);
  const normal = (text) => text?.replace(/ \(off\)$/, '').replace(/['"\s_]/g, '');
  if (normal(stated) !== normal(expected))
    problems.push(`${place} says ${stated ?? 'nothing'}, and is ${expected}`);
}

function textOf(value) {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  if (typeof value === 'function') return value.name;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
