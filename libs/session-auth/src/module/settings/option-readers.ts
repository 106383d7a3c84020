import { invalidOption } from '../../contract/errors.js';

/**
 * Returns the setting of an option. @throws InvalidConfigurationError
 * @param name how messages call the option
 * @param others the settings of the same group that were read before
 */
type Read<Setting> = (value: unknown, name: string, others?: object) => Setting;

export interface Option<Setting> {
  readonly read: Read<Setting>;
  /** Absent if the option is required. */
  readonly fallback?: Setting;
}

type Options = Readonly<Record<string, Option<unknown>>>;

export type SettingsOf<Members extends Options> = {
  readonly [Name in keyof Members]: ReturnType<Members[Name]['read']>;
};

export function optional<Setting>(fallback: Setting, read: Read<Setting>): Option<Setting> {
  return { fallback, read: (value, ...place) => (value === undefined ? fallback : read(value, ...place)) };
}

export function only<Setting>(
  fallback: Setting,
  isValid: (value: unknown) => boolean,
  problem: string,
  remedy: string,
): Option<Setting> {
  return optional(fallback, (value, name) =>
    isValid(value) ? (value as Setting) : invalidOption(name, problem, remedy),
  );
}

type Limit<Others> = number | ((others: Others) => number);

/** Returns an option that is an integer. It is required if it has no default. */
export function int<Others extends object>(
  min: Limit<Others>,
  max: Limit<Others>,
  fallback?: number,
): Option<number> {
  const read: Read<number> = (value, name, others) => {
    const [least, most] = [limitIn(min, others), limitIn(max, others)];
    const absent = fallback === undefined ? undefined : Math.max(least, fallback);
    if (value === undefined && absent !== undefined) return absent;
    const integer = Number.isInteger(value) ? (value as number) : NaN;
    if (integer >= least && integer <= most) return integer;
    const remedy = `Set it within that range${absent === undefined ? '' : `, or leave it out for ${absent}`}`;
    return invalidOption(name, `must be an integer from ${least} to ${most}`, remedy);
  };
  return fallback === undefined ? { read } : { read, fallback };
}

function limitIn<Others>(limit: Limit<Others>, others: object | undefined): number {
  return typeof limit === 'number' ? limit : limit(others as Others);
}

export function bool(fallback: boolean): Option<boolean> {
  const remedy = `Set true or false, or leave it out for ${fallback}`;
  return only(fallback, (value) => typeof value === 'boolean', 'must be a boolean', remedy);
}

export function oneOf<Word extends string>(words: readonly Word[], fallback: Word): Option<Word> {
  const remedy = `Choose one, or leave it out for '${fallback}'`;
  return only(fallback, (value) => words.includes(value as Word), `must be one of ${quoted(words)}`, remedy);
}

/** How messages call the options of a registration. Those in it have no prefix. */
export const ALL_OPTIONS = 'options';

/** Returns an option that is an object of options. A misspelt one would silently have its default. */
export function group<Members extends Options>(members: Members): Required<Option<SettingsOf<Members>>> {
  const entries = Object.entries(members);
  const read: Read<object> = (value, name) => {
    rejectUnknownOptions(name, value, Object.keys(members));
    const prefix = name === ALL_OPTIONS ? '' : `${name}.`;
    const settings: Record<string, unknown> = {};
    for (const [member, option] of entries)
      settings[member] = option.read(value[member], `${prefix}${member}`, settings);
    return settings;
  };
  const fallback = Object.fromEntries(entries.map(([member, option]) => [member, option.fallback]));
  return { read, fallback } as Required<Option<SettingsOf<Members>>>;
}

/** Returns a group that `false` turns off. */
export function unlessFalse<Setting, Off>(
  { fallback, read }: Required<Option<Setting>>,
  off: Off,
): Option<Setting | Off> {
  return optional<Setting | Off>(fallback, (value, name) => (value === false ? off : read(value, name)));
}

export function rejectUnknownOptions(
  owner: string,
  options: unknown,
  known: readonly string[],
): asserts options is Readonly<Record<string, unknown>> {
  if (!isGroup(options)) invalidOption(owner, 'must be an object', `It may hold ${quoted(known)}`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = known.find((name) => isMisspelt(unknown, name));
  const remedy = meant === undefined ? `Valid options: ${quoted(known)}` : `You may mean '${meant}'`;
  invalidOption(`${owner}.${unknown}`, 'is not an option', remedy);
}

/** Whether the names are equal but for their case and one letter: missing, too many, wrong or exchanged. */
function isMisspelt(one: string, other: string): boolean {
  const names = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length);
  const [short = '', long = ''] = names;
  // A status has too few characters to be a misspelt one.
  if (short.length < 4 || long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  const [restOfShort, restOfLong] = [short.slice(start), long.slice(start)];
  return (
    restOfShort.slice(1) === restOfLong.slice(1) ||
    restOfShort === restOfLong.slice(1) ||
    restOfShort === `${restOfLong[1]}${restOfLong[0]}${restOfLong.slice(2)}`
  );
}

/** Returns whether a value may have options. An empty list would silently have each default. */
export function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

export function isPlainTextBeyondLoopback(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
