import { type FieldDescription, fieldsOf } from './field-descriptions.js';
import { compileRecordBuilder } from './record-builder.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

type Fields = Record<string, unknown>;

/**
 * Builds the check of a record class once, at bootstrap: from a parsed JSON object to a frozen record, or `undefined` when a declared
 * field is of the wrong type. Same verdict as class-validator gives on what class-transformer builds; fields that the class does not declare
 * are dropped, and `null` becomes `undefined`. `share` may make records share what they have in common.
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
    settle(user, fields);
    share?.(user);
    return Object.freeze(user) as User;
  };
}

const TOKEN_FIELD = 'auth_token';

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Makes absent of null, at every depth that is described, and freezes what a field holds. */
function settle(instance: Fields, fields: readonly FieldDescription[]): void {
  for (const { name, nested } of fields) {
    const value = instance[name];
    if (value === null) instance[name] = undefined;
    else if (typeof value === 'object') {
      if (nested) settleNested(value);
      freezeDeep(value);
    }
  }
}

function settleNested(value: object): void {
  if (!Array.isArray(value)) settle(value as Fields, fieldsOf(value.constructor as new () => object));
  else for (const item of value as object[]) settleNested(item);
}

function freezeDeep(value: object): void {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}

/** Whether a record meets what its class declares: the verdict of class-validator, from decorators that were read once. */
export function isValidRecord(instance: object, fields: readonly FieldDescription[]): boolean {
  for (const field of fields) if (!isValidField(field, instance as Record<string, unknown>)) return false;
  return true;
}

function isValidField({ name, checks, conditions, nested }: FieldDescription, owner: Record<string, unknown>): boolean {
  const value = owner[name];
  for (const applies of conditions) if (!applies(value, owner)) return true;
  for (const accepts of checks) if (!accepts(value, owner)) return false;
  return nested === undefined || value === undefined || isValidNested(value);
}

/** A nested value is an object of a described class, or an array of such. */
function isValidNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isValidNested);
  if (typeof value !== 'object' || value === null) return false;
  const fields = fieldsOf(value.constructor as new () => object);
  return fields.length > 0 && isValidRecord(value, fields);
}

/** A record class that keeps `auth_token` where no enumeration, serialisation or inspection looks. */
export interface HiddenTokenClass<User extends UserRecord> {
  readonly record: UserRecordClass<User>;
  readonly hideToken: (user: object, token: string | undefined) => void;
}

/** Derives such a class. Its instances are instances of `record`, and `auth_token` can be read on them. */
export function withHiddenToken<User extends UserRecord>(record: UserRecordClass<User>): HiddenTokenClass<User> {
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
