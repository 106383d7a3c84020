import { parseArgs } from 'node:util';
import { UsageError } from './command-io.js';

interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** Placeholder of the value in the help, such as `URL`. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly about: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The command line of a subcommand. */
export interface CommandLine<Specs extends OptionSpecs> {
  readonly name: string;
  readonly about: string;
  readonly options: Specs;
  /** Environment variables that it reads: name and meaning. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The meanings of the exit codes, if they differ from the default texts. */
  readonly exitCodes?: readonly [zero: string, one: string];
}

type ValueOf<Spec extends OptionSpec> = Spec['type'] extends 'boolean'
  ? boolean
  : Spec extends { multiple: true }
    ? string[]
    : string;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: ValueOf<Specs[Name]>;
};

const HELP = { type: 'boolean', short: 'h' } as const;

/**
 * Reads the arguments of a subcommand. Returns its help if `--help` is among them. @throws UsageError for an
 * argument that it does not know
 */
export function readCommandLine<Specs extends OptionSpecs>(
  line: CommandLine<Specs>,
  args: readonly string[],
): OptionValues<Specs> | string {
  const options = Object.entries(line.options).map(
    ([name, { type, multiple = false }]) => [name, { type, multiple }] as const,
  );
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(options), help: HELP },
      strict: true,
    });
    return values.help === true ? helpOf(line) : (values as OptionValues<Specs>);
  } catch (error) {
    throw new UsageError(`${problemOf(error)} See: nestjs-session-auth-cli ${line.name} --help`);
  }
}

/** Returns the error of the arguments. Names options, and quotes no value: it may be a secret. */
function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const option = /'(?:-\w, )?(--?[\w-]+)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `Unknown option ${option}.`;
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return `Option ${option} is incomplete, or takes no value.`;
  return 'There is an argument that belongs to no option.';
}

function helpOf({
  name,
  about,
  options,
  environment = {},
  exitCodes = ['nothing is wrong', 'something is wrong'],
}: CommandLine<OptionSpecs>): string {
  const flags = Object.entries(options).map(
    ([option, { value, about: text }]) => [`--${option}${value ? ` ${value}` : ''}`, text] as const,
  );
  const codes = [...exitCodes, 'the command line or the environment is not usable'].map(
    (text, code) => [String(code), text] as const,
  );
  return [
    `Usage: nestjs-session-auth-cli ${name} [options]`,
    `\n${about}`,
    `\nOptions:\n${table([...flags, ['-h, --help', 'shows this help']])}`,
    ...(Object.keys(environment).length > 0 ? [`\nEnvironment:\n${table(Object.entries(environment))}`] : []),
    `\nExit code:\n${table(codes)}\n`,
  ].join('\n');
}

export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}
