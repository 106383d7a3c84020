import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { freePort } from '../support/server-process.js';
import { compileProgram, type CompiledProgram } from '../support/program.js';

export interface DrainSettings {
  readonly platform: string;
  readonly baseUrl: string;
  readonly options: Partial<Pick<SessionAuthOptions, 'timeoutMs' | 'cache'>>;
  /** Who waits between the signal and the closing of the server. */
  readonly drain: 'terminus' | 'hook';
  readonly drainMs: number;
  readonly redisPort: number | undefined;
  readonly tcpPort: number;
}

/** An application in a separate process, which can be asked to stop. */
export interface DrainingApp {
  readonly url: string;
  readonly tcpPort: number;
  /** Sends SIGTERM, and resolves when the application knows of it. */
  terminate(): Promise<void>;
  /** Resolves when every server of it has closed. */
  readonly closed: Promise<unknown>;
  /** Resolves with the exit code and the signal when the process has ended. */
  readonly exit: Promise<unknown[]>;
  kill(): void;
}

/** Compiles the program once, for any number of processes. */
export function compileDrainProgram(): Promise<CompiledProgram> {
  return compileProgram(join(import.meta.dirname, 'drain.process.ts'));
}

export async function startDrainingApp(
  { file }: CompiledProgram,
  given: Omit<DrainSettings, 'tcpPort'>,
): Promise<DrainingApp> {
  const settings: DrainSettings = { ...given, tcpPort: await freePort() };
  const child = fork(file, [JSON.stringify(settings)]);
  const exit = once(child, 'exit');
  const said = (event: string | undefined): Promise<string> =>
    new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (event === undefined || message === event) resolve(message as string);
      });
      child.once('exit', (code) =>
        reject(new Error(`The process ended before it said ${event ?? 'anything'}: ${code}`)),
      );
    });
  const closed = said('closed');
  closed.catch(() => undefined);
  return {
    url: await said(undefined),
    tcpPort: settings.tcpPort,
    terminate: async () => {
      const draining = said('draining');
      child.kill('SIGTERM');
      await draining;
    },
    closed,
    exit,
    kill: () => void child.kill('SIGKILL'),
  };
}
