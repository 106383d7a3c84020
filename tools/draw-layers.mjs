// Draws the layers of the library into ARCHITECTURE.md from the imports themselves; with --check, fails when
// the drawing is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../ARCHITECTURE.md', import.meta.url));
const [START, END] = ['<!-- layers: start -->', '<!-- layers: end -->'];

const drawing = execFileSync(
  'npx',
  [
    'depcruise',
    'libs/session-auth/src',
    '--include-only',
    '^libs/session-auth/src',
    '--exclude',
    '[.]spec[.]ts$',
    '--collapse',
    '^libs/session-auth/src/[^/]+',
    '--output-type',
    'mermaid',
  ],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  },
).trim();

const text = readFileSync(page, 'utf8');
const [before, after] = [text.indexOf(START), text.indexOf(END)];
if (before < 0 || after < before) throw new Error(`ARCHITECTURE.md must hold ${START} and ${END}`);
const drawn = `${text.slice(0, before)}${START}\n\n\`\`\`mermaid\n${drawing}\n\`\`\`\n\n${text.slice(after)}`;

if (!process.argv.includes('--check')) writeFileSync(page, drawn);
else if (drawn !== text) {
  console.error('ARCHITECTURE.md shows other layers than the code has: run npm run docs:layers');
  process.exit(1);
}
