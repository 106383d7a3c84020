import { parseArgs } from 'node:util';
import { type CommandIo, type ExitCode, UsageError } from './command-io.js';

interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** Placeholder of the value in the help, such as `URL`. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly about: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The command line of a subcommand. */
interface CommandLine<Specs extends OptionSpecs> {
  readonly about: string;
  readonly options: Specs;
  /** Environment variables that it reads: name and meaning. */
  readonly environment: Readonly<Record<string, string>>;
  /** The meanings of the exit codes. */
  readonly exitCodes: readonly [zero: string, one: string];
}

export interface Command<Specs extends OptionSpecs = OptionSpecs> extends CommandLine<Specs> {
  /** @throws UsageError if the options or the environment are not usable */
  run(options: OptionValues<Specs>, io: CommandIo): Promise<ExitCode>;
}

type ValueOf<Spec extends OptionSpec> = Spec['type'] extends 'boolean'
  ? boolean
  : Spec extends { multiple: true }
    ? string[]
    : string;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: ValueOf<Specs[Name]>;
};

/** Returns the help instead if `--help` is among the arguments. @throws UsageError for an unknown one */
export function readCommandLine<Specs extends OptionSpecs>(
  name: string,
  line: CommandLine<Specs>,
  args: readonly string[],
): OptionValues<Specs> | string {
  const options = Object.entries(line.options).map(
    ([option, { type, multiple = false }]) => [option, { type, multiple }] as const,
  );
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(options), help: { type: 'boolean', short: 'h' } },
    });
    return values.help === true ? helpOf(name, line) : (values as OptionValues<Specs>);
  } catch (error) {
    throw new UsageError(`${problemOf(error)} See: nestjs-session-auth-cli ${name} --help`);
  }
}

/** Names options, and quotes no value: it may be a secret. */
function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const option = /'(?:-\w, )?(--?[\w-]+)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `Unknown option ${option}.`;
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return `Option ${option} is incomplete, or takes no value.`;
  return 'There is an argument that belongs to no option.';
}

function helpOf(name: string, { about, options, environment, exitCodes }: CommandLine<OptionSpecs>): string {
  const flags = Object.entries(options).map(
    ([option, { value, about: text }]) => [`--${option}${value ? ` ${value}` : ''}`, text] as const,
  );
  const codes = [...exitCodes, 'the command line or the environment is not usable'];
  return [
    `Usage: nestjs-session-auth-cli ${name} [options]\n\n${about}`,
    `Options:\n${table([...flags, ['-h, --help', 'shows this help']])}`,
    `Environment:\n${table(Object.entries(environment))}`,
    `Exit code:\n${table(codes.map((text, code) => [String(code), text]))}\n`,
  ].join('\n\n');
}

export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}
