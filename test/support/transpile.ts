import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { transpiled } from '../transpiled.mjs';

/**
 * Writes the sources of a folder as plain JavaScript, file by file, so that a process can run their current
 * state.
 */
export async function transpileFolder(source: string, target: string): Promise<void> {
  const files = await readdir(source, { recursive: true });
  const sources = files.filter((file) => /(?<![.](?:d|spec))[.]ts$/.test(file));
  await Promise.all(
    sources.map((file) => transpile(join(source, file), join(target, file.replace(/[.]ts$/, '.js')))),
  );
}

/** Writes one source as plain JavaScript. */
export async function transpile(source: string, target: string): Promise<void> {
  const { code } = transpiled(await readFile(source, 'utf8'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}
