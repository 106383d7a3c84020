import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { transpileFolder } from '../support/transpile.js';

const APP = join(import.meta.dirname, '../../apps/session-service');

/** The service's program as plain JavaScript, as a process can run it. */
export interface ServiceProgram {
  readonly main: string;
  readonly admin: string;
  remove(): Promise<void>;
}

export interface ServiceProcess {
  readonly url: string;
  /** Sends the signal to the process, and waits until it has exited. */
  end(signal: NodeJS.Signals): Promise<ProcessEnd>;
}

/** The exit code and the output of a process. */
interface ProcessEnd {
  readonly code: number | null;
  readonly output: string;
}

/** Translates the service's sources file by file, into a directory from where it finds its packages. */
export async function compileService(): Promise<ServiceProgram> {
  await mkdir(join(APP, 'dist'), { recursive: true });
  const target = await mkdtemp(join(APP, 'dist', 'contract-'));
  await transpileFolder(join(APP, 'src'), target);
  return {
    main: join(target, 'main.js'),
    admin: join(target, 'admin.js'),
    remove: () => rm(target, { recursive: true, force: true }),
  };
}

/** The processes of one program that a test starts. */
export class ServiceProcesses {
  readonly #running: ServiceProcess[] = [];

  /** Starts a process, to be ended with the others. */
  async start(program: ServiceProgram, environment: NodeJS.ProcessEnv): Promise<ServiceProcess> {
    const service = await startServiceProcess(program, environment);
    this.#running.push(service);
    return service;
  }

  /** Ends all processes that still run. */
  async killAll(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((service) => service.end('SIGKILL')));
  }
}

/** Starts the service and waits until it listens. */
async function startServiceProcess(
  program: ServiceProgram,
  environment: NodeJS.ProcessEnv,
): Promise<ServiceProcess> {
  const { child, ended } = run([program.main], environment);
  const url = await Promise.race([
    listeningUrl(child),
    ended.then(({ output }) => Promise.reject(new Error(output))),
  ]);
  return {
    url,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs the service, which is expected to end by itself. */
export function runServiceToItsEnd(
  program: ServiceProgram,
  environment: NodeJS.ProcessEnv,
): Promise<ProcessEnd> {
  return run([program.main], environment).ended;
}

export function runAdministrationProcess(
  program: ServiceProgram,
  args: string[],
  environment: NodeJS.ProcessEnv,
): Promise<ProcessEnd> {
  const { child, ended } = run([program.admin, ...args], environment);
  child.stdin?.end();
  return ended;
}

function run(
  args: string[],
  environment: NodeJS.ProcessEnv,
): { child: ChildProcess; ended: Promise<ProcessEnd> } {
  const { PATH } = process.env;
  const child = spawn(process.execPath, args, { env: { PATH, PORT: '0', NO_COLOR: '1', ...environment } });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code], said, complained]): ProcessEnd => ({ code: code as number | null, output: said + complained }),
  );
  return { child, ended };
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const url = /listening on ([^\s,]+)(?:, bound to \S+)?\n/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
