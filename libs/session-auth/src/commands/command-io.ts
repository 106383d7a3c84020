/** Where a command writes text. */
export interface TextOutput {
  write(text: string): unknown;
  /** Whether it is a terminal. */
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

/** 0: done, and nothing is wrong. 1: something is wrong. 2: the command line or the environment is not usable. */
export type ExitCode = 0 | 1 | 2;
