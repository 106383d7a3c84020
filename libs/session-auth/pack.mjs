// Packs the library's tarball, alone, into dist/packages/ of the workspace.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const target = `${root}dist/packages`;

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) copyFileSync(`${root}${file}`, `${home}${file}`);
try {
  execFileSync('npm', ['pack', '--pack-destination', target], { cwd: home, stdio: 'inherit' });
} finally {
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) rmSync(`${home}${file}`);
}
