import type { CommandIo, ExitCode } from '../command-io.js';
import { readCommandLine } from '../command-line.js';
import { UsageError } from '../usage-error.js';
import { COMMAND_LINE } from './doctor-options.js';

/** Runs the subcommand `doctor`. @throws UsageError if the arguments or the environment are not usable */
export async function doctor(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const options = readCommandLine(COMMAND_LINE, args);
  if (typeof options === 'string') {
    io.stdout.write(options);
    return 0;
  }
  await Promise.resolve();
  throw new UsageError('Set --url to the root of the session service');
}
