// Packs the tarball of the commands, alone, into dist/packages-cli/ of the workspace.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('.', import.meta.url));
const target = fileURLToPath(new URL('../../dist/packages-cli', import.meta.url));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
copyFileSync(new URL('../../LICENSE', import.meta.url), `${home}LICENSE`);
try {
  execFileSync('npm', ['pack', '--pack-destination', target], { cwd: home, stdio: 'inherit' });
} finally {
  rmSync(`${home}LICENSE`);
}
