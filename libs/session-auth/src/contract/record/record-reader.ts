import { type FieldDescription, fieldsOf } from './field-descriptions.js';
import { compileRecordBuilder } from './record-builder.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

type Fields = Record<string, unknown>;

/**
 * Compiles the reader of a record class once, at bootstrap. The reader turns a parsed JSON object into a frozen record, or returns `undefined`
 * if a declared field has the wrong type. It accepts the same objects as class-transformer followed by class-validator, removes undeclared
 * fields, and turns `null` into `undefined`. `share` may replace values of a record by equal values of earlier records.
 */
export function compileRecordReader<User extends UserRecord>(
  record: UserRecordClass<User>,
  share?: (user: Fields) => void,
): (json: object) => User | undefined {
  const hiding = withHiddenToken(record);
  const fields = fieldsOf(record);
  const build = compileRecordBuilder(hiding.record, TOKEN_FIELD);
  return (json) => {
    const user = build(json) as Fields;
    const token: unknown = Object.hasOwn(json, TOKEN_FIELD) ? (json as Fields)[TOKEN_FIELD] : undefined;
    if (!isAbsent(token) && typeof token !== 'string') return undefined;
    hiding.hideToken(user, token ?? undefined);
    if (!isValidRecord(user, fields)) return undefined;
    normalize(user, fields);
    share?.(user);
    return Object.freeze(user) as User;
  };
}

const TOKEN_FIELD = 'auth_token';

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Turns `null` into `undefined` in described fields at every depth, and freezes the values of the fields. */
function normalize(instance: Fields, fields: readonly FieldDescription[]): void {
  for (const { name, nested } of fields) {
    const value = instance[name];
    if (value === null) instance[name] = undefined;
    else if (typeof value === 'object') {
      if (nested) normalizeNested(value);
      freezeDeep(value);
    }
  }
}

function normalizeNested(value: object): void {
  if (!Array.isArray(value)) normalize(value as Fields, fieldsOf(value.constructor as new () => object));
  else for (const item of value as object[]) normalizeNested(item);
}

function freezeDeep(value: object): void {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}

/** Returns whether a record is valid by the decorators of its class, as class-validator decides, from decorators that were read once. */
function isValidRecord(instance: object, fields: readonly FieldDescription[]): boolean {
  for (const field of fields) if (!isValidField(field, instance as Record<string, unknown>)) return false;
  return true;
}

function isValidField({ name, checks, conditions, nested }: FieldDescription, owner: Record<string, unknown>): boolean {
  const value = owner[name];
  for (const applies of conditions) if (!applies(value, owner)) return true;
  for (const accepts of checks) if (!accepts(value, owner)) return false;
  return nested === undefined || value === undefined || isValidNested(value);
}

/** A nested value must be an object of a described class, or an array of such objects. */
function isValidNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isValidNested);
  if (typeof value !== 'object' || value === null) return false;
  const fields = fieldsOf(value.constructor as new () => object);
  return fields.length > 0 && isValidRecord(value, fields);
}

/** A record class that hides `auth_token` from enumeration, serialization and inspection. */
interface HiddenTokenClass<User extends UserRecord> {
  readonly record: UserRecordClass<User>;
  readonly hideToken: (user: object, token: string | undefined) => void;
}

/** Derives a class that hides the token. Its instances are instances of `record`, with a readable `auth_token`. */
function withHiddenToken<User extends UserRecord>(record: UserRecordClass<User>): HiddenTokenClass<User> {
  const derived = class extends (record as UserRecordClass) {
    #token: string | undefined;

    static hideToken(user: object, token: string | undefined): void {
      if (#token in user) user.#token = token;
    }

    static tokenOf(user: object): string | undefined {
      return #token in user ? user.#token : undefined;
    }
  };
  const token: PropertyDescriptor & ThisType<object> = {
    get() {
      return derived.tokenOf(this);
    },
  };
  Object.defineProperty(derived.prototype, 'auth_token', token);
  Object.defineProperty(derived, 'name', { value: record.name });
  return { record: derived as unknown as UserRecordClass<User>, hideToken: (user, value) => derived.hideToken(user, value) };
}
