import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { transpile, transpileFolder } from './transpile.js';

const ROOT = join(import.meta.dirname, '../..');
/** Programs in this folder resolve packages as the tests do: on NestJS 11 from its folder first. */
const HOME = process.env.NEST_MAJOR === '11' ? join(ROOT, 'test/nest-11') : ROOT;
const PACKAGE = {
  type: 'module',
  exports: { '.': './index.js', './*': './*/index.js' },
};

/** A program of the tests as plain JavaScript, with the library as its sources are now. */
export interface CompiledProgram {
  /** Options of `fork`. */
  readonly file: string;
  remove(): Promise<void>;
}

/**
 * Compiles a program, and sources that it imports beside it, into a folder where it finds the library under its name, and everything else where the
 * workspace has it.
 */
export async function compileProgram(source: string, ...beside: string[]): Promise<CompiledProgram> {
  await mkdir(join(HOME, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(HOME, 'dist/program-'));
  const library = join(folder, 'node_modules/nestjs-session-auth');
  await transpileFolder(join(ROOT, 'libs/session-auth/src'), library);
  await writeFile(join(library, 'package.json'), JSON.stringify(PACKAGE));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const targetOf = (each: string): string => join(folder, basename(each).replace(/[.]ts$/, '.js'));
  for (const each of [source, ...beside]) await transpile(each, targetOf(each));
  return { file: targetOf(source), remove: () => rm(folder, { recursive: true, force: true }) };
}
