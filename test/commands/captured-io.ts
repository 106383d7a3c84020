import type { CommandIo } from '../../libs/session-auth-cli/src/command-line/command-line.js';

/** Inputs and outputs of a command, for a test. */
export interface CapturedIo extends CommandIo {
  readonly out: () => string;
  readonly err: () => string;
  readonly interrupt: () => void;
}

/** Captures the output of a command. `isTTY`: whether it prints to a terminal. */
export function captureIo(env: Readonly<Record<string, string>> = {}, isTTY = false): CapturedIo {
  const interruption = new AbortController();
  const [out, err] = [[] as string[], [] as string[]];
  return {
    stdout: { write: (text) => out.push(text), isTTY },
    stderr: { write: (text) => err.push(text) },
    env,
    interrupted: interruption.signal,
    out: () => out.join(''),
    err: () => err.join(''),
    interrupt: () => interruption.abort(),
  };
}
