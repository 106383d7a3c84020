import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { CompiledProgram } from '../support/program.js';
import type { Commands } from './instance.process.js';
import type { InstanceSettings } from './instance-settings.js';

/** One instance of the application, in a process of its own. */
export class Instance {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  /** Resolves with the exit code when the process has ended. */
  readonly exit: Promise<number | null>;
  #url = '';
  #asked = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exit = once(child, 'exit').then(([code]) => code as number | null);
    child.on('message', ({ id, result }: { id: number; result: unknown }) => this.#waiting.get(id)?.(result));
  }

  static async start(program: CompiledProgram, settings: InstanceSettings): Promise<Instance> {
    const instance = new Instance(fork(program.file, [JSON.stringify(settings)]));
    instance.#url = String(await instance.#answer(0));
    return instance;
  }

  /** `GET /me`, which is guarded. */
  get(token: string, authIv?: string): Promise<Response> {
    return fetch(`${this.#url}/me`, { headers: { 'x-auth-token': token, ...(authIv !== undefined && { 'x-auth-iv': authIv }) } });
  }

  /** The status of a check. */
  async status(token: string, authIv?: string): Promise<number> {
    const response = await this.get(token, authIv);
    await response.arrayBuffer();
    return response.status;
  }

  /** Has the instance do something. */
  async do<Name extends keyof Commands>(name: Name, ...args: Parameters<Commands[Name]>): Promise<Awaited<ReturnType<Commands[Name]>>> {
    const id = (this.#asked += 1);
    const answer = this.#answer(id);
    this.#child.send({ id, name, args });
    return (await answer) as Awaited<ReturnType<Commands[Name]>>;
  }

  /** Ends the process at once, as a crash does. */
  async crash(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exit;
  }

  /** Ends the process, whatever it does. An instance that ended before did so of an error of its own. */
  async kill(): Promise<void> {
    const ended = this.#child.exitCode;
    this.#child.kill('SIGKILL');
    await this.exit;
    if (ended !== null && ended !== 0) throw new Error(`An instance ended by itself with exit code ${ended}`);
  }

  #answer(id: number): Promise<unknown> {
    const ended = this.exit.then((code) => Promise.reject(new Error(`The instance ended with exit code ${code ?? 'none'}`)));
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve)).finally(() => this.#waiting.delete(id));
    return Promise.race([answer, ended]);
  }
}
