// Writes the tables of docs/compatibility.md, each between its own marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';

const PAGE = fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url));

export function tableOf(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Replaces the text between the marks of a section. */
export async function writeSection(name, text) {
  const [start, end] = [`<!-- ${name}: start -->`, `<!-- ${name}: end -->`];
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/compatibility.md has no section "${name}"`);
  writeFileSync(PAGE, await formatMarkdown(`${before}${start}\n\n${text}\n\n${end}${after}`));
}
