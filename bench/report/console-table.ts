import type { Answered } from './markdown.js';
import { spreadText, verdictText } from './figures.js';

/** Prints the findings of a question. */
export function printAnswer({ question, findings, notes = [] }: Answered): void {
  console.log(`\n${question.name}: ${question.title}`);
  for (const note of notes) console.log(`  ${note}`);
  const rows = findings.map((found) => ({
    measured: found.against === undefined ? found.subject : `${found.subject} / ${found.against}`,
    'min / median / max': `${spreadText(found.value, found.unit).replaceAll('*', '')} ${found.unit}`,
    'by CPU': found.byCpu?.median.toFixed(2) ?? '',
    calls: found.calls ?? '',
    target: found.target ? `${found.target.text}: ${verdictText(found)}` : '',
  }));
  console.table(rows);
}
