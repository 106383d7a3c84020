// Before the workers start: transpiles what all of them load, which each of them would do for itself at the same time.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transpiled } from './transpiled.mjs';

const SHARED = ['../libs/session-auth/src', './support'];

export default function transpileLibrary() {
  for (const folder of SHARED.map((path) => fileURLToPath(new URL(path, import.meta.url)))) {
    const sources = readdirSync(folder, { recursive: true }).filter((file) => /(?<![.](?:d|spec))[.]ts$/.test(file));
    for (const source of sources) transpiled(readFileSync(`${folder}/${source}`, 'utf8'));
  }
}
