// Packs the library's tarball, alone, into dist/packages/ of the workspace, or the folder that is named: the
// build, with the README, the license, and the index of the guides for programs that read text.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RAW_URL, readPageFor } from '../../tools/links.mjs';
import { indexOfGuides } from '../../tools/llms.mjs';

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
  writeFileSync(
    `${home}llms.txt`,
    indexOfGuides((page) => `${RAW_URL}/v${version}/${page}`, false),
  );
  execFileSync('npm', ['pack', '--pack-destination', target], { cwd: home, stdio: 'inherit' });
} finally {
  for (const copied of ['README.md', 'LICENSE', 'llms.txt']) rmSync(`${home}${copied}`, { force: true });
}
