import { runCommand } from '../../libs/session-auth/src/commands/run-command.js';
import { until } from '../support/until.js';

/** A command that runs in this process. */
export interface CommandRun {
  /** What it has written to standard output. */
  readonly output: () => string;
  /** What it has written to standard error. */
  readonly errors: () => string;
  /** Its exit code. */
  readonly exitCode: Promise<number>;
  /** Interrupts it, as SIGINT does, and returns its exit code. */
  readonly interrupt: () => Promise<number>;
}

/** Starts `nestjs-session-auth` with arguments and environment variables. */
export function runInProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}): CommandRun {
  const interruption = new AbortController();
  const written = { stdout: '', stderr: '' };
  const exitCode = runCommand(args, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    env,
    interrupted: interruption.signal,
  });
  return {
    output: () => written.stdout,
    errors: () => written.stderr,
    exitCode,
    interrupt: () => {
      interruption.abort();
      return exitCode;
    },
  };
}

/** Resolves with the match of what a command has written to standard output, as soon as it matches. */
export async function written({ output }: Pick<CommandRun, 'output'>, pattern: RegExp): Promise<readonly string[]> {
  await until(`it writes ${pattern}`, () => pattern.test(output()));
  return pattern.exec(output()) ?? [];
}
