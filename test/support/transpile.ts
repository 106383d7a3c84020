import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What was transpiled before, by the digest of its source: a program is some 200 files, and many suites start one. */
const CACHE = join(import.meta.dirname, '../../dist/transpiled');

/** Writes the sources of a folder as plain JavaScript, file by file, so that a process can run what is there now. */
export async function transpileFolder(source: string, target: string): Promise<void> {
  const files = await readdir(source, { recursive: true });
  const sources = files.filter((file) => /(?<![.](?:d|spec))[.]ts$/.test(file));
  await Promise.all(sources.map((file) => transpile(join(source, file), join(target, file.replace(/[.]ts$/, '.js')))));
}

/** Writes one source as plain JavaScript. */
export async function transpile(source: string, target: string): Promise<void> {
  const text = await readFile(source, 'utf8');
  const cached = join(CACHE, `${createHash('sha256').update(text).digest('hex')}.js`);
  const output = await readFile(cached, 'utf8').catch(() => transpileInto(cached, text));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, output);
}

/** Puts a file there as a whole: another worker may read or write the same one. */
async function transpileInto(cached: string, text: string): Promise<string> {
  // Loaded only where it is needed, because it takes seconds.
  const { default: ts } = await import('typescript');
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  await mkdir(CACHE, { recursive: true });
  const unfinished = `${cached}.${randomUUID()}`;
  await writeFile(unfinished, outputText);
  await rename(unfinished, cached);
  return outputText;
}
