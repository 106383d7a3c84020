import type { Answered } from './markdown.js';
import { figure, intervalText, verdictText } from './figures.js';

/** Prints the findings of a question. */
export function printAnswer({ question, findings, notes = [] }: Answered): void {
  console.log(`\n${question.name}: ${question.title}`);
  for (const note of notes) console.log(`  ${note}`);
  const rows = findings.map((found) => ({
    measured: found.against === undefined ? found.subject : `${found.subject} / ${found.against}`,
    median: `${figure(found.value.median, found.unit)} ${found.unit}`,
    '95 % interval': intervalText(found.value, found.unit),
    calls: found.calls ?? '',
    target: found.target ? `${found.target.text}: ${verdictText(found)}` : '',
  }));
  console.table(rows);
}
