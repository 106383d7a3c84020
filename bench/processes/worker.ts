import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type Answer, Calls, type Handlers } from '../calls.js';

/** How a process is started. */
export interface WorkerOptions {
  /** Options of Node.js. */
  readonly execArgv?: readonly string[];
  /** Environment variables, in addition to those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A separate process, asked over the channel that Node puts between parent and child. */
export class Worker<Api extends Handlers> {
  readonly #child: ChildProcess;
  readonly #calls: Calls<Api>;

  constructor(module: URL, { execArgv = [], env = {} }: WorkerOptions = {}) {
    const name = module.pathname.split('/').at(-1) ?? module.href;
    this.#child = fork(module, { execArgv: [...execArgv], env: { ...process.env, ...env } });
    this.#calls = new Calls(this.#child);
    this.#child.on('message', (answer: Answer) => this.#calls.settle(answer));
    this.#child.on('exit', (code, signal) =>
      this.#calls.failAll(new Error(`${name} ended: ${signal ?? String(code)}`)),
    );
  }

  /** Sends a call, and waits for the answer. Rejects if the process ends first. */
  call<Name extends keyof Api & string>(
    name: Name,
    ...argument: Parameters<Api[Name]>
  ): Promise<Awaited<ReturnType<Api[Name]>>> {
    return this.#calls.send(name, ...argument);
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
}
