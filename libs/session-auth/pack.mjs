// Packs the library's tarball, alone, into dist/packages/ of the workspace, or the folder that is named: the
// build, with the README and the license.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPageFor } from '../../tools/links.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.argv[2] ?? `${root}dist/packages`;
const { version } = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
try {
  writeFileSync(
    `${home}README.md`,
    readPageFor('README.md', { files: ['README.md', 'LICENSE'], ref: `v${version}` }),
  );
  copyFileSync(`${root}LICENSE`, `${home}LICENSE`);
  execFileSync('npm', ['pack', '--pack-destination', target], { cwd: home, stdio: 'inherit' });
} finally {
  for (const copied of ['README.md', 'LICENSE']) rmSync(`${home}${copied}`, { force: true });
}
