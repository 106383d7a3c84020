import { reportStalls } from './stalls.js';

/** The calls that a child process handles. */
export type Handlers = Record<string, (argument: never) => unknown>;

/** One question to a child. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A stall of a child on a busy machine. */
export interface Stalled {
  readonly stalledMs: number;
}

/**
 * Answers the calls of the parent. After `stop` the channel is closed and nothing ends this process: it has to end
 * by itself.
 */
export function serve(handlers: Handlers & { stop: () => Promise<void> }): void {
  const abandoned = (): void => process.exit(1);
  const answer = (message: Answer, then: () => void = () => undefined): void =>
    void process.send?.(message, then);
  const leave = (): void => {
    process.off('disconnect', abandoned);
    process.disconnect();
  };
  process.on('disconnect', abandoned);
  reportStalls((stalledMs) => {
    if (process.connected) process.send?.({ stalledMs } satisfies Stalled);
  });
  process.on('message', ({ id, name, argument }: Call) => {
    Promise.resolve()
      .then(() => handlers[name]?.(argument as never))
      .then(
        (result) => answer({ id, result }, name === 'stop' ? leave : undefined),
        (error: unknown) =>
          answer({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
}
