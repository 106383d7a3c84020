import { execFileSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['libs/session-auth/src', 'apps/session-service/src', 'apps/demo/src', 'apps/demo/page'];
const BUILT = [
  'libs/session-auth/dist/esm/index.js',
  'apps/session-service/dist/main.js',
  'apps/demo/dist/main.js',
];

/** Builds the demo as `npm run build` does, unless its build is newer than every source. */
export async function buildDemo(): Promise<void> {
  const [changed, built] = await Promise.all([newest(SOURCES), oldest(BUILT)]);
  if (built > changed) return;
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function newest(folders: readonly string[]): Promise<number> {
  const times = folders.map(async (folder) => {
    const files = await readdir(join(ROOT, folder), { recursive: true });
    return Math.max(
      ...(await Promise.all(
        files.filter((file) => !file.startsWith('dist')).map((file) => changedAt(join(folder, file))),
      )),
    );
  });
  return Math.max(...(await Promise.all(times)));
}

async function oldest(files: readonly string[]): Promise<number> {
  return Math.min(...(await Promise.all(files.map((file) => changedAt(file).catch(() => 0)))));
}

async function changedAt(path: string): Promise<number> {
  return (await stat(join(ROOT, path))).mtimeMs;
}
