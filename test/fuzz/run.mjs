// Tries FUZZ_RUNS cases (a million), of a new seed or of FUZZ_SEED. With --record, writes RESULTS.md.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commitOf, recordRun } from '../../tools/record-run.mjs';

const { FUZZ_RUNS = '1000000', FUZZ_SEED = String(Date.now() % 2 ** 31) } = process.env;
const commit = commitOf(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
const report = join(folder, 'report.txt');
writeFileSync(report, '');
const { status } = spawnSync(
  'npm',
  ['run', 'jest', '--', 'test/fuzz', '--selectProjects', 'weekly', '--runInBand'],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, FUZZ_RUNS, FUZZ_SEED, FUZZ_REPORT: report },
  },
);
const lines = readFileSync(report, 'utf8').trim().split('\n').sort();
rmSync(folder, { recursive: true });
if (process.argv.includes('--record')) {
  const outcome = status === 0 ? 'every case as the rules demand' : '**cases that break a rule**';
  const body = [`\`FUZZ_RUNS=${FUZZ_RUNS}\`: ${outcome}.`, ...lines.map((line) => `- ${line}`)]
    .join('\n\n')
    .replaceAll('\n\n- ', '\n- ');
  const command = 'npm run test:fuzz -- --record';
  await recordRun(import.meta.url, { title: 'Results of the fuzz', command, commit, seed: FUZZ_SEED, body });
}
process.exitCode = status ?? 1;
