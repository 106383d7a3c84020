import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { InvalidConfigurationError } from '../../contract/errors.js';

/**
 * Rejects an option, which stops the bootstrap. The message names the option and the remedy, and never
 * contains a value, which may be a secret.
 * @throws InvalidConfigurationError always
 */
export function invalidOption(option: string, problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`SessionAuthModule: ${option} ${problem}. ${remedy}.`);
}

/** Runs checks of the options of a registration. Their message names it, if it has a name. */
export function namingRegistration<Result>(name: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (name === DEFAULT_AUTHORITY || !(error instanceof InvalidConfigurationError)) throw error;
    throw new InvalidConfigurationError(
      error.message.replace('SessionAuthModule: ', `SessionAuthModule '${name}': `),
    );
  }
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * Returns an integer option within its range, or the default if it is absent. @throws
 * InvalidConfigurationError
 */
export function integerOption(
  option: string,
  value: unknown,
  range: Range & { readonly fallback: number },
): number {
  if (value === undefined) return range.fallback;
  return integerWithin(
    option,
    value,
    range,
    `Set it within that range, or leave it out for ${range.fallback}`,
  );
}

/** Returns an integer option that has no default. @throws InvalidConfigurationError */
export function requiredInteger(option: string, value: unknown, range: Range): number {
  return integerWithin(option, value, range, 'Set it within that range');
}

function integerWithin(option: string, value: unknown, { min, max }: Range, remedy: string): number {
  const integer = Number.isInteger(value) ? (value as number) : NaN;
  return integer >= min && integer <= max
    ? integer
    : invalidOption(option, `must be an integer from ${min} to ${max}`, remedy);
}

/** Returns a Boolean option, or the default if it is absent. @throws InvalidConfigurationError */
export function booleanOption(option: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  return typeof value === 'boolean'
    ? value
    : invalidOption(option, 'must be a boolean', `Set true or false, or leave it out for ${fallback}`);
}

/**
 * Returns an option that is one of `words`, or the default if it is absent. @throws InvalidConfigurationError
 */
export function enumOption<Word extends string>(
  option: string,
  value: unknown,
  words: readonly Word[],
  fallback: Word,
): Word {
  if (value === undefined) return fallback;
  const word = words.find((candidate) => candidate === value);
  return (
    word ??
    invalidOption(option, `must be one of ${quoted(words)}`, `Choose one, or leave it out for '${fallback}'`)
  );
}

/**
 * Rejects unknown option names: a misspelt option would otherwise silently have its default. @throws
 * InvalidConfigurationError
 */
export function rejectUnknownOptions(owner: string, options: unknown, known: readonly string[]): void {
  if (!isGroup(options)) invalidOption(owner, 'must be an object', `It may hold ${quoted(known)}`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    invalidOption(`${owner}.${unknown}`, 'is not an option', `Valid options: ${quoted(known)}`);
}

/**
 * Returns whether a value is an object that may have options. A list has none, so that an empty one would
 * silently have each default.
 */
export function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

const EXAMPLE = 'Give it the root of the session service, for example https://sessions.example.com/api';

/**
 * Validates `baseUrl`. Returns it without trailing slashes, ready for a path of the interface to be appended.
 * @throws InvalidConfigurationError
 */
export function readBaseUrl(value: unknown): string {
  if (value === undefined || value === '') return invalidOption('baseUrl', 'is missing', EXAMPLE);
  const url = parse(value);
  if (!url) return invalidOption('baseUrl', 'is not an absolute URL', EXAMPLE);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return invalidOption('baseUrl', 'must start with http:// or https://', EXAMPLE);
  if (url.username !== '' || url.password !== '')
    return invalidOption('baseUrl', 'must not hold a user or a password', EXAMPLE);
  if (url.href.includes('?') || url.href.includes('#'))
    return invalidOption('baseUrl', 'must not have a query or a fragment', EXAMPLE);
  if (/\/authentication\/*$/.test(url.pathname))
    return invalidOption('baseUrl', 'must not end in /authentication', EXAMPLE);
  return url.href.replace(/\/+$/, '');
}

/** Returns whether keys and tokens would cross a network unencrypted. */
export function isPlainTextBeyondLoopback(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function parse(value: unknown): URL | undefined {
  if (value instanceof URL) return value;
  return typeof value === 'string' && value === value.trim() && URL.canParse(value)
    ? new URL(value)
    : undefined;
}
