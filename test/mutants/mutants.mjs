// Realistic slips, each as a change of one source of the library, from `mutants.txt`: under the name of the
// source, the name of a bug, `@` the suites that find it, `-` code that must stand there exactly once, and
// `+` its replacement, if any; HALF holds in half of the cases. A suite is an end-to-end test by its place
// below `test`, or a spec by its place below the sources of the library. One of those joined by `or` must
// find the bug, or each of those joined by `and`.
import { readFileSync } from 'node:fs';

const paragraphs = readFileSync(new URL('mutants.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n\n');
let file = '';

export const MUTANTS = paragraphs.flatMap((paragraph) => {
  const [name, ...lines] = paragraph.split('\n');
  if (name.startsWith('# ')) {
    file = name.slice(2);
    return [];
  }
  const [suites, find, replaced = ''] = ['@ ', '- ', '+ '].map((mark) =>
    lines.find((line) => line.startsWith(mark))?.slice(2),
  );
  const replace = replaced.replaceAll('HALF', 'Math.random() < 0.5');
  return [{ name, file, find, replace, suites: suites.split(/ or | and /), every: suites.includes(' and ') }];
});
