// Transpiles the files that all workers load or run as programs, before the workers start: each would do it
// itself at the same time. The lists of what the short form leaves out, and of times, start empty with each run.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TIMES } from './suite-times.mjs';
import { transpiled } from './transpiled.mjs';

const SHARED = [
  ['../libs/session-auth/src', /(?<![.](?:d|spec))[.]ts$/],
  ['../libs/session-auth-cli/src', /[.]ts$/],
  ['../apps/session-service/src', /(?<![.](?:d|spec))[.]ts$/],
  ['./support', /[.]ts$/],
  ['.', /[.]process[.]ts$/],
];

export default function transpileLibrary() {
  rmSync(TIMES, { force: true });
  rmSync(
    fileURLToPath(new URL(`../dist/left-out/nest-${process.env.NEST_MAJOR ?? '12'}.txt`, import.meta.url)),
    { force: true },
  );
  for (const [place, isShared] of SHARED) {
    const folder = fileURLToPath(new URL(place, import.meta.url));
    const sources = readdirSync(folder, { recursive: true }).filter(
      (file) => isShared.test(file) && !file.includes('node_modules'),
    );
    for (const source of sources) transpiled(readFileSync(`${folder}/${source}`, 'utf8'));
  }
}
