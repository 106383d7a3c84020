// Writes the tables of docs/compatibility.md, each between its own marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from '../../tools/markdown.mjs';

const PAGE = fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url));

/** A table of rows: their cells, and the outcome of each check, which is `true` or a message. */
export function tableOf(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = (outcomes) => Object.values(outcomes).map((outcome) => (outcome === true ? '✓' : 'no'));
  const lines = rows.map(({ cells, outcomes }) => line([...cells, ...marks(outcomes)]));
  return [line(columns), line(columns.map(() => '---')), ...lines].join('\n');
}

export function failuresOf({ cells, outcomes }) {
  const failed = Object.entries(outcomes).filter(([, outcome]) => outcome !== true);
  return failed.map(([check, message]) => `${cells.join(', ')}: ${check}: ${message}`);
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
