import { plainToInstance } from 'class-transformer';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { UserRecord, UserRecordClass } from '../contract/record/user-record.js';
import { type PrepareReader, withHiddenToken } from '../contract/record/user-reader.js';
import {
  type FieldDescription,
  fieldsOf,
  hasAsyncValidators,
  isTransformed,
  type RecordClass,
} from './field-descriptions.js';
import { frozenCopy } from './frozen-copy.js';
import { findInvalidField, type InvalidField } from './invalid-field.js';
import { undecoratedFields } from './undecorated-fields.js';

type Fields = Record<string, unknown>;

const OPTION = 'userRecord';
const TOKEN_FIELD = 'auth_token';

/**
 * Prepares the reader of a class of the application from its decorators, which are read once. The reader
 * accepts the same objects as class-transformer followed by class-validator.
 */
export const prepareReader =
  (record: UserRecordClass): PrepareReader =>
  (report, share) => {
    rejectUnusableClass(record);
    const hidden = withHiddenToken(record);
    const fields = fieldsOf(record);
    const build = compileRecordBuilder(hidden, TOKEN_FIELD);
    const readFields = (json: object): UserRecord | undefined => {
      const user = build(json) as Fields;
      hidden.hideToken(user, ownField(json, TOKEN_FIELD) ?? undefined);
      let invalid: InvalidField | undefined;
      detach(user, fields, (path, requirement) => {
        invalid ??= { path, expectation: `$property ${requirement}` };
      });
      invalid ??= findInvalidField(user, fields);
      if (invalid !== undefined) {
        const { path, expectation } = invalid;
        report(
          path,
          expectation.replaceAll('$property', () => path),
        );
        return undefined;
      }
      normalize(user, fields);
      share?.(user);
      return Object.freeze(user);
    };
    const read = (json: object): UserRecord | undefined => {
      try {
        return readFields(json);
      } catch {
        // The text of the error may contain the value.
        report(record.name, `a validator or a transformation of ${record.name} threw an error`);
        return undefined;
      }
    };
    return { fields: new Set(fields.map(({ name }) => name)), read };
  };

function rejectUnusableClass(record: new () => UserRecord): void {
  const sample = constructing(() => new record(), 'has a constructor that throws');
  const paths = constructing(() => undecoratedFields(record), 'has a nested class whose constructor throws');
  if (paths.length > 0) {
    const names = paths.map((path) => `'${path}'`).join(', ');
    rejectClass(
      `has fields without a decorator of class-validator, which the service can't set: ${names}`,
      'Decorate them, for example with @IsOptional() @IsString(), or make them getters',
    );
  }
  if (hasAsyncValidators(record))
    rejectClass('has an asynchronous validator', 'Use validators that answer at once');
  if (Object.hasOwn(sample, TOKEN_FIELD)) rejectClass('declares auth_token again', 'Leave it to UserRecord');
}

/** Records and their nested objects are created without arguments, before their fields are set. */
function constructing<T>(construct: () => T, problem: string): T {
  try {
    return construct();
  } catch {
    return rejectClass(problem, 'Declare fields only, without arguments');
  }
}

function rejectClass(problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`SessionAuthModule: ${OPTION} ${problem}. ${remedy}.`);
}

/**
 * Replaces the values of described fields by frozen copies, at every depth.
 * @param refuse receives what can't be one: a promise of a transformation that answers later, for example
 */
function detach(
  instance: Fields,
  fields: readonly FieldDescription[],
  refuse: (path: string, requirement: string) => void,
): void {
  for (const { name, nested } of fields) {
    const copy = frozenCopy(instance[name], (requirement) => refuse(name, requirement));
    // Values that are no objects stay: the token has no setter.
    if (copy !== instance[name]) instance[name] = copy;
    if (!nested) continue;
    for (const each of objectsIn(copy))
      detach(each, fieldsOf(each.constructor as RecordClass), (path, requirement) =>
        refuse(`${name}.${path}`, requirement),
      );
  }
}

/** Turns `null` into `undefined` in described fields, and freezes the objects of nested classes, at every depth. */
function normalize(instance: Fields, fields: readonly FieldDescription[]): void {
  for (const { name, nested } of fields) {
    if (instance[name] === null) instance[name] = undefined;
    if (!nested) continue;
    for (const each of objectsIn(instance[name])) {
      normalize(each, fieldsOf(each.constructor as RecordClass));
      Object.freeze(each);
    }
  }
}

/** The objects of a nested class: in a list, or the value itself. */
function objectsIn(value: unknown): Fields[] {
  const items: unknown[] = [value].flat(Infinity);
  return items.filter((item): item is Fields => typeof item === 'object' && item !== null);
}

type Build = (json: object) => object;

/**
 * Compiles a function that builds a record from JSON with its declared fields only, at every depth, and
 * without the field `except`.
 */
function compileRecordBuilder(record: RecordClass, except?: string): Build {
  const fields = fieldsOf(record).filter(({ name }) => name !== except);
  return fields.some((field) => isTransformed(record, field))
    ? transformerOf(record)
    : fieldCopierOf(record, fields);
}

/** Copies the declared fields unchanged, and builds the values of nested classes. */
function fieldCopierOf(record: RecordClass, fields: readonly FieldDescription[]): Build {
  const steps = fields.map(({ name, nested }) => ({
    name,
    buildNested: nested && compileRecordBuilder(nested),
  }));
  return (json) => {
    const instance = new record() as Fields;
    for (const { name, buildNested } of steps) {
      const value: unknown = ownField(json, name);
      instance[name] = buildNested ? mapObjects(value, buildNested) : value;
    }
    return instance;
  };
}

/** Returns a field of JSON, and nothing that other code added to `Object.prototype`. */
export function ownField(json: object, name: string): unknown {
  return Object.hasOwn(json, name) ? (json as Fields)[name] : undefined;
}

function mapObjects(value: unknown, build: Build): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, build));
  return typeof value === 'object' && value !== null ? build(value) : value;
}

/** Builds the record with class-transformer, for classes that use more of it than nested types. */
function transformerOf(record: RecordClass): Build {
  return (json) => {
    const instance = plainToInstance(record, json);
    removeUndeclared(instance);
    return instance;
  };
}

function removeUndeclared(value: unknown): void {
  if (Array.isArray(value)) value.forEach(removeUndeclared);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const fields = fieldsOf(value.constructor as RecordClass);
  for (const name of Object.keys(value)) {
    const field = fields.find((declared) => declared.name === name);
    if (!field) Reflect.deleteProperty(value, name);
    else if (field.nested) removeUndeclared((value as Fields)[name]);
  }
}
