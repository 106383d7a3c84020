// Transpiles the files that all workers load or run as programs, before the workers start: each would do it itself at the same time.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transpiled } from './transpiled.mjs';

const SHARED = [
  ['../libs/session-auth/src', /(?<![.](?:d|spec))[.]ts$/],
  ['../apps/session-service/src', /(?<![.](?:d|spec))[.]ts$/],
  ['./support', /[.]ts$/],
  ['.', /[.]process[.]ts$/],
];

export default function transpileLibrary() {
  for (const [place, isShared] of SHARED) {
    const folder = fileURLToPath(new URL(place, import.meta.url));
    const sources = readdirSync(folder, { recursive: true }).filter((file) => isShared.test(file) && !file.includes('node_modules'));
    for (const source of sources) transpiled(readFileSync(`${folder}/${source}`, 'utf8'));
  }
}
