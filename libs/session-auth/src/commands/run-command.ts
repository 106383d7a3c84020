import type { CommandIo, ExitCode } from './command-io.js';
import { table } from './command-line.js';
import { SUBCOMMANDS, type Subcommand } from './subcommands.js';
import { UsageError } from './usage-error.js';

/** Runs the command with its arguments. Resolves with its exit code; never rejects. */
export async function runCommand(args: readonly string[], io: CommandIo, subcommands = SUBCOMMANDS): Promise<ExitCode> {
  const [name = '--help', ...rest] = args;
  if (name === '--help' || name === '-h') {
    io.stdout.write(helpOf(subcommands));
    return args.length === 0 ? 2 : 0;
  }
  try {
    return await subcommandOf(name, subcommands).run(rest, io);
  } catch (error) {
    if (!(error instanceof UsageError)) return failed(error, io);
    io.stderr.write(`${error.message}\n`);
    return 2;
  }
}

/** @throws UsageError if there is no such subcommand */
function subcommandOf(name: string, subcommands: readonly Subcommand[]): Subcommand {
  const found = subcommands.find((subcommand) => subcommand.name === name);
  if (found) return found;
  throw new UsageError(`Unknown subcommand. One of: ${subcommands.map((known) => known.name).join(', ')}. See: nestjs-session-auth --help`);
}

/** An error of the command itself. Its text may contain anything, so only its name and code are printed. */
function failed(error: unknown, { stderr }: CommandIo): ExitCode {
  const { name = 'Error', code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  stderr.write(`The command failed: ${name}${code === undefined ? '' : ` (${code})`}. This is a fault of nestjs-session-auth.\n`);
  return 1;
}

function helpOf(subcommands: readonly Subcommand[]): string {
  return [
    'Usage: nestjs-session-auth SUBCOMMAND [options]',
    `\nSubcommands:\n${table(subcommands.map(({ name, summary }) => [name, summary]))}`,
    '\nThe options of a subcommand: nestjs-session-auth SUBCOMMAND --help\n',
  ].join('\n');
}
