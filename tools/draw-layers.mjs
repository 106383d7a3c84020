// Draws the layers of the library into ARCHITECTURE.md from the imports themselves, without the arrows that
// others imply; with --check, fails when the drawing is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../ARCHITECTURE.md', import.meta.url));
const [START, END] = ['<!-- layers: start -->', '<!-- layers: end -->'];

const collapsed = execFileSync(
  'npx',
  [
    'depcruise',
    'libs/session-auth/src',
    '--include-only',
    '^libs/session-auth/src',
    '--exclude',
    '[.]spec[.]ts$|src/index[.]ts$',
    '--collapse',
    '^libs/session-auth/src/[^/]+',
    '--output-type',
    'json',
  ],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 26,
  },
);
/** The folders that each folder imports. */
const imports = new Map(
  JSON.parse(collapsed).modules.map(({ source, dependencies }) => [
    basename(source),
    dependencies.map(({ resolved }) => basename(resolved)).filter((to) => to !== basename(source)),
  ]),
);
const arrows = [...imports]
  .flatMap(([from, direct]) => direct.filter((to) => !isImplied(direct, to)).map((to) => `${from} --> ${to}`))
  .sort();
const drawing = ['flowchart LR', ...arrows].join('\n  ');

/** Whether another of the folders imports this one too, directly or not: its arrow would say nothing more. */
function isImplied(direct, to) {
  return direct.some((other) => other !== to && reaches(other, to));
}

function reaches(from, to) {
  return imports.get(from)?.some((next) => next === to || reaches(next, to)) ?? false;
}

const text = readFileSync(page, 'utf8');
const [before, after] = [text.indexOf(START), text.indexOf(END)];
if (before < 0 || after < before) throw new Error(`ARCHITECTURE.md must hold ${START} and ${END}`);
const drawn = `${text.slice(0, before)}${START}\n\n\`\`\`mermaid\n${drawing}\n\`\`\`\n\n${text.slice(after)}`;

if (!process.argv.includes('--check')) writeFileSync(page, drawn);
else if (drawn !== text) {
  console.error('ARCHITECTURE.md shows other layers than the code has: run npm run docs:layers');
  process.exit(1);
}
