// Compares the table of causes in docs/troubleshooting.md with the code: their names, levels and states.
// `--write` replaces the table.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from './markdown.mjs';
import { importSource } from './import-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs/troubleshooting.md');
const TABLE = /(?<=<!-- causes -->\n\n)[^]*?(?=<!-- end of causes -->)/;

const { CAUSES } = await importSource('contract/causes.ts');
const rows = ['| cause | level | state |', '| --- | --- | --- |', ...Object.entries(CAUSES).map(rowOf), ''];
const table = `${await formatMarkdown(rows.join('\n'))}\n`;
const text = await readFile(page, 'utf8');
const [written] = TABLE.exec(text) ?? [];
if (written === undefined)
  throw new Error('docs/troubleshooting.md has no table of causes between its comments');
if (process.argv.includes('--write'))
  await writeFile(
    page,
    text.replace(TABLE, () => table),
  );
else if (written !== table)
  throw new Error(
    'the causes in docs/troubleshooting.md are not those of the code: node tools/check-causes.mjs --write',
  );
console.log(`${Object.keys(CAUSES).length} causes are in docs/troubleshooting.md as in the code`);

function rowOf([name, { level = 'warn', isHarmless }]) {
  return `| \`${name}\` | ${level} | ${isHarmless ? '`up`' : '`degraded`'} |`;
}
