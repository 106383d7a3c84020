import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { CompiledProgram } from '../support/program.js';
import type { Order } from './instance.process.js';
import type { HostSettings, InstanceSettings } from './instance-settings.js';

/** A process that runs instances of the application. */
export class InstanceHost {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  /** Resolves with the exit code when the process has ended. */
  readonly exit: Promise<number | null>;
  readonly #forOne: boolean;
  #asked = 0;
  #started = 0;

  constructor(program: CompiledProgram, settings: HostSettings = {}) {
    this.#child = fork(program.file, [JSON.stringify(settings)]);
    this.#forOne = settings.forOne ?? false;
    this.exit = once(this.#child, 'exit').then(([code]) => code as number | null);
    this.#child.on('message', ({ id, result }: { id: number; result: unknown }) =>
      this.#waiting.get(id)?.(result),
    );
  }

  async start(settings: InstanceSettings): Promise<{ number: number; url: string }> {
    const number = (this.#started += 1);
    return { number, url: String(await this.ask({ instance: number, name: 'start', args: [settings] })) };
  }

  /** Runs an operation on an instance. */
  async ask(order: Omit<Order, 'id'>): Promise<unknown> {
    const id = (this.#asked += 1);
    const ended = this.exit.then((code) =>
      Promise.reject(new Error(`The instance ended with exit code ${code ?? 'none'}`)),
    );
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve)).finally(() =>
      this.#waiting.delete(id),
    );
    this.#child.send({ id, ...order });
    return Promise.race([answer, ended]);
  }

  /** Ends an instance, and the process if it is for one. */
  async stop(instance: number): Promise<void> {
    if (this.#forOne) await this.close();
    else await this.ask({ instance, name: 'stop', args: [] });
  }

  /** Ends the process at once. Rejects if it has ended before because of an error of its own. */
  async close(): Promise<void> {
    const ended = this.#child.exitCode;
    this.#child.kill('SIGKILL');
    await this.exit;
    if (ended !== null && ended !== 0) throw new Error(`An instance ended by itself with exit code ${ended}`);
  }
}
