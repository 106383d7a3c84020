import { type CommandIo, type ExitCode, UsageError } from './command-line/command-io.js';
import { table } from './command-line/command-line.js';

/** Runs the command with its arguments. Resolves with its exit code; never rejects. */
export async function runCommand(
  args: readonly string[],
  io: CommandIo,
  subcommands = SUBCOMMANDS,
): Promise<ExitCode> {
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
  throw new UsageError(
    `Unknown subcommand. One of: ${subcommands.map((known) => known.name).join(', ')}. See: nestjs-session-auth-cli --help`,
  );
}

/** An error of the command itself. Its text may contain anything, so only its name and code are printed. */
function failed(error: unknown, { stderr }: CommandIo): ExitCode {
  const { name = 'Error', code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  stderr.write(
    `The command failed: ${name}${code === undefined ? '' : ` (${code})`}. This is a fault of nestjs-session-auth-cli.\n`,
  );
  return 1;
}

function helpOf(subcommands: readonly Subcommand[]): string {
  return [
    'Usage: nestjs-session-auth-cli SUBCOMMAND [options]',
    `\nSubcommands:\n${table(subcommands.map(({ name, summary }) => [name, summary]))}`,
    '\nThe options of a subcommand: nestjs-session-auth-cli SUBCOMMAND --help\n',
  ].join('\n');
}

/** One subcommand of `nestjs-session-auth-cli`. */
interface Subcommand {
  readonly name: string;
  /** Short description for the help. */
  readonly summary: string;
  /**
   * Runs it. Prints its help for `--help`. @throws UsageError if the arguments or the environment are not
   * usable
   */
  run(args: readonly string[], io: CommandIo): Promise<ExitCode>;
}

/** The subcommands, in the order of the help. Each is loaded when it runs. */
export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'dev',
    summary: 'serves the interface in memory, for development',
    run: async (args, io) => (await import('./dev/dev-command.js')).dev(args, io),
  },
  {
    name: 'doctor',
    summary: 'examines a session service, and prints the options that follow',
    run: async (args, io) => (await import('./doctor/doctor.js')).doctor(args, io),
  },
  {
    name: 'contract',
    summary: 'checks a session service against its interface, row by row',
    run: async (args, io) => (await import('./contract/contract.js')).contract(args, io),
  },
];
