import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from '@jest/globals';
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

/** A process that runs the schematic, and the folder of its program. */
interface Schematic {
  readonly folder: string;
  readonly child: ChildProcess;
}

/** The processes of a suite that run the schematic, by the folder that they run in. */
const schematics = new Map<string, Promise<Schematic>>();
afterAll(async () => {
  for (const { folder, child } of await Promise.all(schematics.values())) {
    child.disconnect();
    await once(child, 'exit');
    await rm(folder, { recursive: true });
  }
});

async function startSchematic(cwd: string): Promise<Schematic> {
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'dist/nest-add-'));
  await promisify(execFile)(process.execPath, [
    join(ROOT, 'libs/session-auth/build-schematics.mjs'),
    join(folder, 'schematics'),
  ]);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const program = join(folder, 'schematic.process.js');
  await transpile(join(import.meta.dirname, 'schematic.process.ts'), program);
  return { folder, child: fork(program, { cwd, execArgv: [] }) };
}

/** Runs `nest add nestjs-session-auth` on a project, with the current sources of the collection. */
export function nestAdd(
  cwdOf = () => ROOT,
): (files: Files, options?: Options, encoding?: Question['encoding']) => Promise<Answer> {
  return async (files, options = {}, encoding = 'utf8') => {
    const cwd = cwdOf();
    const started = schematics.get(cwd) ?? startSchematic(cwd);
    schematics.set(cwd, started);
    const { child } = await started;
    child.send({ files, options, encoding } satisfies Question);
    const [answer] = (await once(child, 'message')) as [Answer | { error: string }];
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  };
}
