import { styleText } from 'node:util';

interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** The inputs and outputs of a command, apart from the network. */
export interface CommandIo {
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Environment variables: the only place of keys and passwords. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts at SIGINT and SIGTERM. The command then tidies up, and its `run` resolves. */
  readonly interrupted: AbortSignal;
}

/**
 * 0: done, and nothing is wrong. 1: something is wrong. 2: the command line or the environment is not usable.
 */
export type ExitCode = 0 | 1 | 2;

type Style = Parameters<typeof styleText>[0];

/** Returns a function that colours text for an output: only on a terminal, and not if NO_COLOR is set. */
export function paintFor(
  { isTTY }: TextOutput,
  { env }: Pick<CommandIo, 'env'>,
): (style: Style, text: string) => string {
  if (isTTY !== true || env.NO_COLOR) return (_style, text) => text;
  // Later versions of Node.js would decide themselves.
  const paint = styleText as (...args: unknown[]) => string;
  return (style, text) => paint(style, text, { validateStream: false });
}

/** Its message is one sentence, without any value that a user typed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
