import { parseArgs, styleText } from 'node:util';

interface TextOutput {
  write(text: string): unknown;
}

/** The inputs and outputs of a command, apart from the network. */
export interface CommandIo {
  readonly stdout: TextOutput & { readonly isTTY?: boolean };
  readonly stderr: TextOutput;
  /** Environment variables: the only place of keys and passwords. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts at SIGINT and SIGTERM. The command then tidies up, and its `run` resolves. */
  readonly interrupted: AbortSignal;
}

/** 2: the command line or the environment is not usable. */
export type ExitCode = 0 | 1 | 2;

type Style = Parameters<typeof styleText>[0];

/** Returns a function that colours text for stdout: only on a terminal, and not if NO_COLOR is set. */
export function paintFor({ stdout, env }: CommandIo): (style: Style, text: string) => string {
  if (!stdout.isTTY || env.NO_COLOR) return (_style, text) => text;
  // Later versions of Node.js would decide themselves.
  const paint = styleText as (...args: unknown[]) => string;
  return (style, text) => paint(style, text, { validateStream: false });
}

/** Its message is one sentence, without any value that a user typed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type OptionSpecs = Readonly<
  Record<
    string,
    {
      readonly type: 'string' | 'boolean';
      /** Placeholder of the value in the help, such as `URL`. */
      readonly value?: string;
      readonly multiple?: boolean;
      readonly about: string;
    }
  >
>;

export type OptionValues<Specs extends OptionSpecs> = ReturnType<
  typeof parseArgs<{ options: Specs }>
>['values'];

interface CommandLine<Specs extends OptionSpecs> {
  readonly about: string;
  readonly options: Specs;
  /** Environment variables that it reads: name and meaning. */
  readonly environment: Readonly<Record<string, string>>;
  readonly exitCodes: readonly [zero: string, one: string];
}

export interface Command<Specs extends OptionSpecs = OptionSpecs> extends CommandLine<Specs> {
  /** @throws UsageError if the options or the environment are not usable */
  run(options: OptionValues<Specs>, io: CommandIo): Promise<ExitCode>;
}

/** Returns the help instead if `--help` is among the arguments. @throws UsageError for an unknown one */
export function readCommandLine<Specs extends OptionSpecs>(
  name: string,
  line: CommandLine<Specs>,
  args: readonly string[],
): OptionValues<Specs> | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...(line.options as OptionSpecs), help: { type: 'boolean', short: 'h' } },
    });
    return values.help ? helpOf(name, line) : (values as OptionValues<Specs>);
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
