import type { Answer, Finding, Question } from '../question.js';
import { spreadText, verdictText } from './figures.js';

/** A question with its findings. */
export interface Answered extends Answer {
  readonly question: Question;
}

const HOW_TO_READ = `Every figure is min / **median** / max over the rounds; the median decides. Where max / min is above 1.5, the verdict is 'not resolved'. Variants run in turn within each round,
each in a separate process, the session service and the load in others, over loopback. All are restarted three times: two processes
of one variant may differ for as long as they live. A ratio compares requests per second within one round; over HTTP a difference below
about 10 % is not resolved. \`by CPU\` is the median of the same ratio counted by the processor time that the application itself used:
it holds when the load, the service or a neighbour take their part of a small machine. Every variant is checked to have answered what it
should, and the calls that reached the session service are counted.`;

/** Returns the whole report. */
export function markdownReport(answers: readonly Answered[], environment: readonly string[]): string {
  return [
    '# Benchmark results',
    'Written by `npm run bench`; not edited by hand.',
    environment.map((line) => `- ${line}`).join('\n'),
    HOW_TO_READ,
    '![Throughput kept behind each guard; 100 % = no guard](results.svg)',
    '## Targets',
    targetTable(answers),
    ...answers.map((answer) => section(answer)),
  ]
    .join('\n\n')
    .concat('\n');
}

function targetTable(answers: readonly Answered[]): string {
  const judged = answers.flatMap(({ question, findings }) =>
    findings.filter(({ target }) => target).map((found) => ({ question, found })),
  );
  const rows = judged.map(({ question, found }) => [
    `\`${question.name}\``,
    withBase(found),
    spreadText(found.target?.byCpu ? (found.byCpu ?? found.value) : found.value, found.unit),
    found.unit,
    found.target?.text ?? '',
    verdictText(found),
  ]);
  return table(['question', 'measured', 'min / median / max', 'unit', 'target', ''], rows);
}

function section({ question, findings, notes = [] }: Answered): string {
  const rows = findings.map((found) => [
    found.subject,
    found.against ?? '',
    spreadText(found.value, found.unit),
    found.byCpu ? found.byCpu.median.toFixed(2) : '',
    found.unit,
    found.calls ?? '',
    found.target ? `${found.target.text}: ${verdictText(found)}` : '',
  ]);
  const heads = [
    'measured',
    'against',
    'min / median / max',
    'by CPU',
    'unit',
    'calls to the service',
    'target',
  ];
  return [`## ${question.name}: ${question.title}`, ...notes, table(heads, rows)].join('\n\n');
}

function withBase({ subject, against }: Finding): string {
  return against === undefined ? subject : `${subject}, against ${against}`;
}

/** Returns a table, without empty columns. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const used = heads.map((_, column) => rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]): string =>
    `| ${cells.filter((_, column) => used[column]).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map((row) => line(row))].join('\n');
}
