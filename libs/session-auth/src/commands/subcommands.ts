import type { CommandIo, ExitCode } from './command-io.js';

/** One subcommand of `nestjs-session-auth`. */
export interface Subcommand {
  readonly name: string;
  /** Short description for the help. */
  readonly summary: string;
  /** Runs it. Prints its help for `--help`. @throws UsageError if the arguments or the environment are not usable */
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
