// RESULTS.md: the score of each folder, with the commit that was tested last. A run takes hours, and may be
// made folder by folder.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { machine, today } from '../../tools/record-run.mjs';
import { FOLDERS } from './folders.mjs';
import { COLUMNS } from './report.mjs';

const PAGE = fileURLToPath(new URL('RESULTS.md', import.meta.url));
const HEAD = `# Results of the mutation tests

Written by \`npm run test:mutation -- --record\`; not edited by hand. Mutants of each folder of the library, and the share in percent that a test kills,
without those that change nothing. The commit is the one that was tested. A folder without a row has not been recorded.
`;

/** Replaces the rows of the folders that were tested whole, and keeps those of the others. */
export async function record(tested, commit) {
  const lines = linesNow();
  for (const { folder, ...row } of tested.filter((row) => row.folder in FOLDERS))
    lines.set(
      folder,
      cells([
        folder,
        ...[...COLUMNS, 'score'].map((column) => row[column]),
        FOLDERS[folder],
        commit,
        today(),
      ]),
    );
  const columns = ['folder', ...COLUMNS, 'score', 'threshold', 'commit', 'date'];
  const rows = Object.keys(FOLDERS).flatMap((folder) => lines.get(folder) ?? []);
  const text = [
    HEAD,
    cells(columns),
    cells(columns.map(() => '---')),
    ...rows,
    '',
    `The last run: ${machine()}.`,
  ].join('\n');
  writeFileSync(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}

function linesNow() {
  const lines = existsSync(PAGE) ? readFileSync(PAGE, 'utf8').split('\n') : [];
  return new Map(
    lines.flatMap((line) => [...line.matchAll(/^\| (\w+) /g)].map(([, folder]) => [folder, line])),
  );
}

function cells(values) {
  return `| ${values.join(' | ')} |`;
}
