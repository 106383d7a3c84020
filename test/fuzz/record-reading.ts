import { NAMES } from './body-arbitraries.js';

type Fields = Readonly<Record<string, unknown>>;

type Check = (value: unknown) => boolean;
const isString: Check = (value) => typeof value === 'string';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isId: Check = (value) =>
  typeof value === 'number' && Math.abs(value) <= 2 ** 53 - 1 && Math.floor(value) === value;

const IDS = new Map(NAMES.id.map((name) => [name, isId]));
const RECORD = new Map<string, Check>([
  ...[...NAMES.string, ...NAMES.token, 'display_label'].map((name): [string, Check] => [name, isString]),
  ...NAMES.boolean.map((name): [string, Check] => [name, isBoolean]),
  ['ccl_info', (value) => isObject(value) && pick(value, IDS) !== undefined],
]);

/**
 * The user in a body, by sections 2.1 and 2.2 and rule R1: its declared fields that have a value; `undefined`
 * for no user.
 */
export function readUser(body: string): Fields | undefined {
  const json = parse(Buffer.from(body, 'latin1'));
  const user = isObject(json) ? pick(json, RECORD) : undefined;
  if (!user || ![user.username, user.email].some((name) => typeof name === 'string' && name.length > 0))
    return undefined;
  return isObject(user.ccl_info) ? { ...user, ccl_info: pick(user.ccl_info, IDS) } : user;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The declared fields of an object, or `undefined` when one has the wrong type. */
function pick(json: Fields, declared: ReadonlyMap<string, Check>): Fields | undefined {
  const entries = Object.entries(json).filter(([name, value]) => declared.has(name) && value !== null);
  return entries.every(([name, value]) => declared.get(name)?.(value))
    ? Object.fromEntries(entries)
    : undefined;
}
