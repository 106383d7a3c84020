import type { ChildProcess } from 'node:child_process';

/** The calls that a process handles. */
export type Handlers = Record<string, (argument: never) => unknown>;

/** One question to a process. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** Its answer. */
export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The calls to a child process, over the channel that Node.js puts between parent and child. */
export class Calls<Api extends Handlers> {
  readonly #child: Pick<ChildProcess, 'send'>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  constructor(child: Pick<ChildProcess, 'send'>) {
    this.#child = child;
  }

  /** Sends a call, and waits for the answer. */
  send<Name extends keyof Api & string>(
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

  settle({ id, result, error }: Answer): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(error));
  }

  failAll(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** Calls a handler, and returns the answer, or its error. Never rejects. */
export async function answerTo(handlers: Handlers, { id, name, argument }: Call): Promise<Answer> {
  try {
    return { id, result: await handlers[name]?.(argument as never) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
