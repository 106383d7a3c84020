import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Call, Handlers } from './serve.js';

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** How a process is started. */
export interface WorkerOptions {
  /** Options of Node.js. */
  readonly execArgv?: readonly string[];
  /** Environment variables, in addition to those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A separate process, asked over the channel that Node puts between parent and child. */
export class Worker<Api extends Handlers> {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  constructor(module: URL, { execArgv = [], env = {} }: WorkerOptions = {}) {
    this.#name = module.pathname.split('/').at(-1) ?? module.href;
    this.#child = fork(module, { execArgv: [...execArgv], env: { ...process.env, ...env } });
    this.#child.on('message', (answer: Answer) => this.#settle(answer));
    this.#child.on('exit', (code, signal) =>
      this.#failAll(new Error(`${this.#name} ended: ${signal ?? String(code)}`)),
    );
  }

  /** Sends a call, and waits for the answer. Rejects if the process ends first. */
  call<Name extends keyof Api & string>(
    name: Name,
    ...[argument]: Parameters<Api[Name]>
  ): Promise<Awaited<ReturnType<Api[Name]>>> {
    return new Promise((resolve, reject) => {
      const call: Call = { id: (this.#calls += 1), name, argument };
      this.#pending.set(call.id, {
        resolve: (result) => resolve(result as Awaited<ReturnType<Api[Name]>>),
        reject,
      });
      this.#child.send(call, (error) => error && reject(error));
    });
  }

  /** Ends the process and waits until it has. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    const force = setTimeout(() => this.#child.kill('SIGKILL'), 2_000);
    await exit;
    clearTimeout(force);
  }

  #settle({ id, result, error }: Answer): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(`${this.#name}: ${error}`));
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
