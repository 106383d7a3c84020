import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, Calls, type Handlers } from '../calls.js';
import type { Stalled } from './child-serve.js';

/** Milliseconds for a process to end by itself. */
const MAX_EXIT_MS = 5_000;
/** Output that is kept: its end. */
const KEPT_OUTPUT = 20_000;

/** A separate process, asked over the channel that Node puts between parent and child. */
export class Child<Api extends Handlers> {
  readonly end: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #calls: Calls<Api>;
  #output = '';

  constructor(
    module: URL,
    stalled: (stalledMs: number) => void = () => undefined,
    onOutput: (output: string) => void = () => undefined,
  ) {
    this.#child = fork(module, { execArgv: ['--expose-gc'], silent: true });
    this.#calls = new Calls(this.#child);
    this.end = once(this.#child, 'exit').then(
      ([code, signal]) => (signal ?? code) as number | NodeJS.Signals,
    );
    this.#child.on('message', (message: Answer | Stalled) => {
      if ('stalledMs' in message) stalled(message.stalledMs);
      else this.#calls.settle(message);
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
        onOutput(this.#output);
      });
    }
    void this.end.then((end) => this.#calls.failAll(new Error(`The process ended: ${end}\n${this.#output}`)));
  }

  /** Sends a call, and waits for the answer. Rejects if the process ends first. */
  call<Name extends keyof Api & string>(
    name: Name,
    ...argument: Parameters<Api[Name]>
  ): Promise<Awaited<ReturnType<Api[Name]>>> {
    return this.#calls.send(name, ...argument);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks the process to stop, and returns whether it then ended by itself, in time and without an error. */
  async stops(): Promise<boolean> {
    const late = delay(MAX_EXIT_MS, 'late', { ref: false });
    void this.call('stop' as never, ...([] as unknown as Parameters<Api[never]>)).catch(() => undefined);
    const end = await Promise.race([this.end, late]);
    if (end === 'late') this.signal('SIGKILL');
    return end === 0;
  }
}
