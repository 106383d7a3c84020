import { runCommand } from '../../libs/session-auth-cli/src/run-command.js';
import { until } from '../support/until.js';
import { captureIo, type CapturedIo } from './captured-io.js';

/** A command that runs in this process. */
export interface CommandRun extends CapturedIo {
  readonly exitCode: Promise<number>;
}

/** Starts `nestjs-session-auth` with arguments and environment variables. */
export function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CommandRun {
  const io = captureIo(env);
  return { ...io, exitCode: runCommand(args, io) };
}

/** Resolves with the match of a command's standard output, as soon as it matches. */
export async function written({ out }: Pick<CommandRun, 'out'>, pattern: RegExp): Promise<readonly string[]> {
  await until(`it writes ${pattern}`, () => pattern.test(out()));
  return pattern.exec(out()) ?? [];
}
