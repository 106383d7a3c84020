// Packs the library's tarball, alone, into dist/packages/ of the workspace, or the folder that is named: the build, and the documents that
// its README links to.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPageFor } from '../../tools/links.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.argv[2] ?? `${root}dist/packages`;
const { version } = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));

/** These pages list the tests of the repository, and stay there. */
const OF_THE_REPOSITORY = ['asvs.md', 'faults.md'];
const guides = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md') && !OF_THE_REPOSITORY.includes(name));
const pages = ['README.md', 'CHANGELOG.md', ...guides.map((name) => `docs/${name}`)];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
mkdirSync(`${home}docs`);
try {
  const place = { files: [...pages, 'LICENSE'], ref: `v${version}` };
  for (const page of pages) writeFileSync(`${home}${page}`, readPageFor(page, place));
  copyFileSync(`${root}LICENSE`, `${home}LICENSE`);
  execFileSync('npm', ['pack', '--pack-destination', target], { cwd: home, stdio: 'inherit' });
} finally {
  for (const copied of ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs']) rmSync(`${home}${copied}`, { recursive: true, force: true });
}
