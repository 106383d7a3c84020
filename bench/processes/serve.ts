/** The calls that a worker process handles. */
export type Handlers = Record<string, (argument: never) => unknown>;

/** One question to a worker. */
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

/**
 * Answers the parent's calls until it disconnects; then ends this process, with everything that is still
 * open.
 */
export function serve(handlers: Handlers): void {
  process.on('message', ({ id, name, argument }: Call) => {
    Promise.resolve()
      .then(() => handlers[name]?.(argument as never))
      .then(
        (result) => answer({ id, result }),
        (error: unknown) =>
          answer({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.on('disconnect', () => process.exit());
}

function answer(message: Answer): void {
  process.send?.(message);
}
