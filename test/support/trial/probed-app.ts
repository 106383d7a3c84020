import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { compileProgram } from '../program.js';

/** A small nursery, so that garbage of a request does not hide the memory that it retains. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=1'];

export interface ProbedSettings {
  readonly baseUrl: string;
  readonly options: Partial<Pick<SessionAuthOptions, 'timeoutMs' | 'cache' | 'retry' | 'breaker'>>;
}

/** The memory of a process, after a collection. */
export interface MemoryUse {
  readonly heapBytes: number;
  /** The most that the process ever had. */
  readonly peakRssBytes: number;
}

export interface Probe {
  readonly name: 'memory' | 'flood' | 'close';
  readonly argument: number;
}

/** The application in a separate process. */
interface ProbedApp {
  readonly url: string;
  memory(): Promise<MemoryUse>;
  /** Checks a number of unknown tokens. Returns the count of each outcome. */
  flood(tokens: number): Promise<Record<string, number>>;
  /** Closes the application; resolves when it is closed, and then the process has to end by itself. */
  closeApp(): Promise<void>;
  /** Resolves with the exit code when the process has ended. */
  readonly exit: Promise<number | null>;
  close(): Promise<void>;
}

/** Starts the application, from the library's sources as they are now. */
export async function startProbedApp(
  platform: string,
  baseUrl: string,
  options: ProbedSettings['options'] = {},
): Promise<ProbedApp> {
  const program = await compileProgram(join(import.meta.dirname, 'probed.process.ts'));
  const settings: ProbedSettings = { baseUrl, options };
  const child = fork(program.file, [platform, JSON.stringify(settings)], { execArgv: FLAGS });
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const ask = async (probe: Probe): Promise<unknown> => {
    child.send(probe);
    return answerOf(child);
  };
  return {
    url: String(await answerOf(child)),
    memory: async () => (await ask({ name: 'memory', argument: 0 })) as MemoryUse,
    flood: async (tokens) => (await ask({ name: 'flood', argument: tokens })) as Record<string, number>,
    closeApp: async () => {
      await ask({ name: 'close', argument: 0 });
    },
    exit,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
      await program.remove();
    },
  };
}

/** The next answer of a process, or why there is none. */
async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error('The process ended without an answer')),
  );
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [{ result: unknown }];
  return answer.result;
}
