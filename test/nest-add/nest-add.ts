import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { transpile } from '../support/transpile.js';

const ROOT = join(import.meta.dirname, '../..');

/** The text of each file, by its path. */
export type Files = Readonly<Record<string, string>>;

export interface Options {
  readonly module?: string;
  readonly protectAllRoutes?: boolean;
  readonly sourceRoot?: string;
  readonly skipInstall?: boolean;
}

export interface Question {
  readonly files: Files;
  readonly options: Options;
  /** How the files are written. */
  readonly encoding: 'utf8' | 'latin1';
}

export interface Answer {
  readonly files: Files;
  readonly tasks: readonly { readonly name: string; readonly options: object }[];
  readonly said: string;
}

/**
 * Runs `nest add nestjs-session-auth` on a project, with the current sources of the collection. Call it
 * inside `describe`.
 */
export function nestAdd(
  cwd = () => ROOT,
): (files: Files, options?: Options, encoding?: Question['encoding']) => Promise<Answer> {
  let folder: string;
  let child: ChildProcess;
  beforeAll(async () => {
    await mkdir(join(ROOT, 'dist'), { recursive: true });
    folder = await mkdtemp(join(ROOT, 'dist/nest-add-'));
    await promisify(execFile)(process.execPath, [
      join(ROOT, 'libs/session-auth/build-schematics.mjs'),
      join(folder, 'schematics'),
    ]);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const program = join(folder, 'schematic.process.js');
    await transpile(join(import.meta.dirname, 'schematic.process.ts'), program);
    child = fork(program, { cwd: cwd(), execArgv: [] });
  });
  afterAll(async () => {
    child.disconnect();
    await once(child, 'exit');
    await rm(folder, { recursive: true });
  });
  return async (files, options = {}, encoding = 'utf8') => {
    child.send({ files, options, encoding } satisfies Question);
    const [answer] = (await once(child, 'message')) as [Answer | { error: string }];
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  };
}
