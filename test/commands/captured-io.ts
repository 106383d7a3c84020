import type { CommandIo } from '../../libs/session-auth/src/commands/command-io.js';

/** Inputs and outputs of a command, for a test. */
export interface CapturedIo extends CommandIo {
  /** What the command printed to stdout. */
  readonly out: () => string;
  /** What the command printed to stderr. */
  readonly err: () => string;
  /** Does what Ctrl-C does. */
  readonly interrupt: () => void;
}

/** Captures what a command prints. `isTTY`: whether it prints to a terminal. */
export function captureIo(env: Readonly<Record<string, string>> = {}, isTTY = false): CapturedIo {
  const interruption = new AbortController();
  const [out, err] = [[] as string[], [] as string[]];
  return {
    stdout: { write: (text) => out.push(text), isTTY },
    stderr: { write: (text) => err.push(text), isTTY },
    env,
    interrupted: interruption.signal,
    out: () => out.join(''),
    err: () => err.join(''),
    interrupt: () => interruption.abort(),
  };
}
