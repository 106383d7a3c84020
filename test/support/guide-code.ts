import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface GuideCode<Module> {
  readonly module: Module;
  remove(): Promise<void>;
}

/**
 * Imports the code block of a guide whose first line names a file, and with it the other files of the guide.
 */
export async function importFromGuide<Module>(guide: string, file: string): Promise<GuideCode<Module>> {
  const files = await filesOfGuide(guide);
  if (!files.has(file)) throw new Error(`${guide} has no block ${file}`);
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'dist/guide-'));
  for (const [name, code] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), code);
  }
  return {
    module: (await import(join(folder, file))) as Module,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Returns the code block of a guide whose first line names a file: TypeScript or JavaScript, as the ending of
 * the file says.
 */
export async function codeOfGuide(guide: string, file: string): Promise<string> {
  const code = (await filesOfGuide(guide)).get(file);
  if (code === undefined) throw new Error(`${guide} has no block ${file}`);
  return code;
}

async function filesOfGuide(guide: string): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(join(ROOT, 'docs', guide), 'utf8');
  return new Map(
    [...page.matchAll(/^```[tj]s\n\/\/ (\S+\.[tj]s)\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [
      name,
      code,
    ]),
  );
}
