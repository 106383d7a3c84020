// Deletes the declaration files that no entry of the package reaches: users cannot see what they declare.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('.', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap((conditions) => conditions.import?.types ?? []);

const reached = new Set();
const open = entries.map((entry) => resolve(home, entry));
for (let file = open.pop(); file; file = open.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import)\s*\(?['"](\.[^'"]+)\.js['"]/g,
  )) {
    open.push(resolve(dirname(file), `${path}.d.ts`));
  }
}

for (const file of readdirSync(join(home, 'dist/esm'), { recursive: true })) {
  const path = join(home, 'dist/esm', file);
  if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path);
}
