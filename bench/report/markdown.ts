import type { Answer, Finding, Question } from '../question.js';
import { figure, intervalText, verdictText } from './figures.js';

/** A question with its findings. */
export interface Answered extends Answer {
  readonly question: Question;
}

const HOW_TO_READ = `Every figure is a median, with the interval that contains it with a probability of 95 % (sign test). The median decides whether a target is reached.
A ratio compares the requests, or the checks, for a second of processor time that the application itself used, so that the load, the session service
and other programs of a small machine count for nothing. Variants run in turn within each round, over loopback. The load and the session service of a
race are one process, which never sleeps: on a virtual machine, waking it takes longer than a cached check, and would be counted as the application's.
Two processes of one variant differ by a tenth, because of what V8 has compiled, and when. So the applications of a race share a process, apart from peers
that make much more garbage; the checks inside a process have one each. All processes are new in each heat, and a heat counts as one value.
There are at least six, and more until the interval is within 3 % of the median, or the time of the question is over. Every variant is checked to have
answered what it should, and the calls that reached the session service are counted.`;

/** Returns the whole report. */
export function markdownReport(answers: readonly Answered[], environment: readonly string[]): string {
  return [
    '# Benchmark results',
    'Written by `npm run bench`; not edited by hand.',
    environment.map((line) => `- ${line}`).join('\n'),
    HOW_TO_READ,
    '![Requests for a second of processor time behind each guard; 100 % = no guard](results.svg)',
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
    figure(found.value.median, found.unit),
    intervalText(found.value, found.unit),
    found.unit,
    found.target?.text ?? '',
    verdictText(found),
  ]);
  return table(['question', 'measured', 'median', '95 % interval', 'unit', 'target', ''], rows);
}

function section({ question, findings, notes = [] }: Answered): string {
  const rows = findings.map((found) => [
    found.subject,
    found.against ?? '',
    figure(found.value.median, found.unit),
    intervalText(found.value, found.unit),
    found.unit,
    found.calls ?? '',
    found.target ? `${found.target.text}: ${verdictText(found)}` : '',
  ]);
  const heads = ['measured', 'against', 'median', '95 % interval', 'unit', 'calls to the service', 'target'];
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
