import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { compileProgram } from '../support/program.js';
import { retainersIn, type Retained } from './heap-snapshot.js';

/** Long strings are cut in a snapshot by default. */
const FLAGS = ['--expose-gc', '--heap-snapshot-string-limit=1000000'];

export interface HeapSettings {
  readonly baseUrl: string;
  readonly options: Partial<Pick<SessionAuthOptions, 'timeoutMs' | 'cache' | 'maxInFlight' | 'breaker'>>;
  readonly redisPort: number;
}

/** An application in a separate process, whose heap a test can read. */
export interface HeapApp {
  readonly url: string;
  /** Returns the strings of the process that contain this text, with their retainers. */
  retained(text: string): Promise<Retained[]>;
  close(): Promise<void>;
}

/** Starts the application, from the library's sources as they are now. */
export async function startHeapApp(settings: HeapSettings): Promise<HeapApp> {
  const [program, folder] = [
    await compileProgram(join(import.meta.dirname, 'heap.process.ts')),
    await mkdtemp(join(tmpdir(), 'heap-')),
  ];
  const child = fork(program.file, [JSON.stringify(settings), folder], { execArgv: FLAGS });
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error('The process ended without an answer')),
  );
  ended.catch(() => undefined);
  const answer = async (): Promise<string> =>
    String(((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]);
  return {
    url: await answer(),
    retained: async (text) => {
      child.send('snapshot');
      return retainersIn(await readFile(await answer(), 'utf8'), text);
    },
    close: async () => {
      const exit = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await exit;
      await rm(folder, { recursive: true, force: true });
      await program.remove();
    },
  };
}
