import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A module that a guide prints. */
export interface GuideCode<Module> {
  readonly module: Module;
  remove(): Promise<void>;
}

/** Imports the code block of a guide whose first line names a file. */
export async function importFromGuide<Module>(guide: string, file: string): Promise<GuideCode<Module>> {
  const page = await readFile(join(ROOT, 'docs', guide), 'utf8');
  const code = page.split('```').find((block) => block.startsWith(`ts\n// ${file}\n`));
  if (code === undefined) throw new Error(`${guide} has no block ${file}`);
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'dist/guide-'));
  const path = join(folder, 'code.ts');
  await writeFile(path, code.slice(3));
  return { module: (await import(path)) as Module, remove: () => rm(folder, { recursive: true, force: true }) };
}
