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
  const code = await codeOfGuide(guide, file);
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'dist/guide-'));
  const path = join(folder, 'code.ts');
  await writeFile(path, code);
  return { module: (await import(path)) as Module, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Returns the code block of a guide whose first line names a file: TypeScript or JavaScript, as the ending of the file says. */
export async function codeOfGuide(guide: string, file: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs', guide), 'utf8');
  const language = file.slice(-2);
  const code = page.split('```').find((block) => block.startsWith(`${language}\n// ${file}\n`));
  if (code === undefined) throw new Error(`${guide} has no block ${file}`);
  return code.slice(language.length + 1);
}
