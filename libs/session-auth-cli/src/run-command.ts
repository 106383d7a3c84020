import {
  type Command,
  type CommandIo,
  type ExitCode,
  readCommandLine,
  table,
  UsageError,
} from './command-line/command-line.js';

/** Never rejects. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const [name = '--help', ...rest] = args;
  if (name === '--help' || name === '-h') {
    io.stdout.write(helpText());
    return args.length === 0 ? 2 : 0;
  }
  try {
    const command = await loadSubcommand(name);
    const options = readCommandLine(name, command, rest);
    if (typeof options !== 'string') return await command.run(options, io);
    io.stdout.write(options);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) return failed(error, io);
    io.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function loadSubcommand(name: string): Promise<Command> {
  const found = SUBCOMMANDS.find((subcommand) => subcommand.name === name);
  if (found) return found.load();
  throw new UsageError(
    `Unknown subcommand. One of: ${SUBCOMMANDS.map((known) => known.name).join(', ')}. See: nestjs-session-auth-cli --help`,
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

function helpText(): string {
  return [
    'Usage: nestjs-session-auth-cli SUBCOMMAND [options]',
    `\nSubcommands:\n${table(SUBCOMMANDS.map(({ name, summary }) => [name, summary]))}`,
    '\nThe options of a subcommand: nestjs-session-auth-cli SUBCOMMAND --help\n',
  ].join('\n');
}

interface Subcommand {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'dev',
    summary: 'serves the interface in memory, for development',
    load: async () => (await import('./dev/dev-command.js')).DEV,
  },
  {
    name: 'doctor',
    summary: 'examines a session service, and prints the options that follow',
    load: async () => (await import('./doctor/doctor.js')).DOCTOR,
  },
  {
    name: 'contract',
    summary: 'checks a session service against its interface, row by row',
    load: async () => (await import('./contract/contract.js')).CONTRACT,
  },
];
