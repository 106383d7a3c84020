import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { describeRecord, isTransformed, type FieldDescription } from './record-description.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

/** Texts that many users have in common are kept once. */
const SHARED_FIELDS = ['role', 'sub_role', 'preffered_language', 'client_name', 'display_label'] as const;
const MAX_SHARED_TEXTS = 1_000;
const MAX_SHARED_LENGTH = 128;

type Fields = Record<string, unknown>;
type ReadFields = (json: object) => object | undefined;

/**
 * Builds the check of a record class once, at bootstrap: from a parsed JSON object to a frozen record, or `undefined` when a declared
 * field is of the wrong type. Same verdict as class-validator gives on what class-transformer builds; fields that the class does not declare
 * are dropped, and `null` becomes `undefined`.
 */
export function compileRecordReader<User extends UserRecord>(record: UserRecordClass<User>): (json: object) => User | undefined {
  const read = compile(record);
  const share = sharedTexts();
  return (json) => {
    const user = read(json) as Fields | undefined;
    if (user === undefined) return undefined;
    for (const name of SHARED_FIELDS) user[name] = share(user[name]);
    const { auth_token: value } = user as UserRecord;
    Object.defineProperty(user, 'auth_token', { value, enumerable: false });
    return Object.freeze(user) as User;
  };
}

function sharedTexts(): (value: unknown) => unknown {
  const texts = new Map<string, string>();
  return (value) => {
    if (typeof value !== 'string' || value.length > MAX_SHARED_LENGTH) return value;
    const known = texts.get(value);
    if (known === undefined && texts.size < MAX_SHARED_TEXTS) texts.set(value, value);
    return known ?? value;
  };
}

function compile(record: new () => object): ReadFields {
  const fields = describeRecord(record);
  if (fields.some((field) => isTransformed(record, field))) return transformAndValidate(record);
  const steps = fields.map((field) => ({ ...field, readNested: field.nested && readNestedWith(compile(field.nested)) }));
  return (json) => {
    const instance = new record() as Fields;
    for (const { name, readNested } of steps) {
      const value: unknown = Object.hasOwn(json, name) ? (json as Fields)[name] : undefined;
      instance[name] = readNested && value !== null && value !== undefined ? readNested(value) : value;
    }
    for (const step of steps) if (!isValid(step, instance)) return undefined;
    return settle(instance, fields);
  };
}

/** What stands in a field for a nested value that is not valid: no check of a field can accept it. */
const INVALID = Symbol('invalid');

function readNestedWith(read: ReadFields): (value: unknown) => unknown {
  return function readNested(value): unknown {
    if (Array.isArray(value)) {
      const items = value.map(readNested);
      return items.includes(INVALID) ? INVALID : items;
    }
    return typeof value === 'object' && value !== null ? (read(value) ?? INVALID) : INVALID;
  };
}

function isValid({ name, checks, conditions, nested }: FieldDescription, instance: Fields): boolean {
  const value = instance[name];
  if (value === INVALID) return false;
  for (const applies of conditions) if (!applies(value, instance)) return true;
  for (const accepts of checks) if (!accepts(value, instance)) return false;
  return nested === undefined || value !== null;
}

function transformAndValidate(record: new () => object): ReadFields {
  const fields = describeRecord(record);
  return (json) => {
    try {
      const instance = plainToInstance(record, json);
      return validateSync(instance, { whitelist: true }).length === 0 ? settle(instance as Fields, fields) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Makes absent of null, and freezes what a field holds. */
function settle(instance: Fields, fields: readonly FieldDescription[]): object {
  for (const { name } of fields) {
    const value = instance[name];
    if (value === null) instance[name] = undefined;
    else if (typeof value === 'object') freezeDeep(value);
  }
  return instance;
}

function freezeDeep(value: object): void {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}
