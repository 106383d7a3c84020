import { plainToInstance } from 'class-transformer';
import { hasOwnDecorators, readBuiltIn } from './built-in-reader.js';
import { type FieldDescription, fieldsOf, isTransformed } from './field-descriptions.js';
import { findInvalidField, type InvalidField } from './record-check.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

type Fields = Record<string, unknown>;

/**
 * Compiles the reader of a record class once, at bootstrap. The reader turns a parsed JSON object into a
 * frozen record, or returns `undefined` if a declared field has the wrong type. It accepts the same objects
 * as class-transformer followed by class-validator, removes undeclared fields, and turns `null` into
 * `undefined`. `share` may replace values of a record by equal values of earlier records. `onInvalid`
 * receives the field with the wrong type.
 */
export function compileRecordReader<User extends UserRecord>(
  record: UserRecordClass<User>,
  share?: (user: Fields) => void,
  onInvalid?: (field: InvalidField) => void,
): (json: object) => User | undefined {
  const hiding = withHiddenToken(record);
  const fields = fieldsOf(record);
  const build = compileRecordBuilder(hiding.record, TOKEN_FIELD);
  const read = (json: object): User | undefined => {
    const user = build(json) as Fields;
    hiding.hideToken(user, tokenIn(json));
    const invalid = findInvalidField(user, fields);
    if (invalid !== undefined) {
      onInvalid?.(invalid);
      return undefined;
    }
    normalize(user, fields);
    share?.(user);
    return Object.freeze(user) as User;
  };
  return hasOwnDecorators(record) ? fasterReader(hiding, read, share) : read;
}

/**
 * Returns a reader for the built-in class, which leaves everything but a valid record to `read`. It takes a
 * tenth of the time.
 */
function fasterReader<User extends UserRecord>(
  { record, hideToken }: HiddenTokenClass<User>,
  read: (json: object) => User | undefined,
  share: ((user: Fields) => void) | undefined,
): (json: object) => User | undefined {
  return (json) => {
    const token = tokenIn(json);
    const user = readBuiltIn(json as UserRecord, record);
    if (user === undefined || (token !== undefined && typeof token !== 'string')) return read(json);
    hideToken(user, token);
    share?.(user as Fields);
    return Object.freeze(user);
  };
}

function tokenIn(json: object): unknown {
  return Object.hasOwn(json, TOKEN_FIELD) ? ((json as Fields)[TOKEN_FIELD] ?? undefined) : undefined;
}

const TOKEN_FIELD = 'auth_token';

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
  for (const item of Object.values(value))
    if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}

/** A record class that hides `auth_token` from enumeration, serialization and inspection. */
interface HiddenTokenClass<User extends UserRecord> {
  readonly record: UserRecordClass<User>;
  readonly hideToken: (user: object, token: unknown) => void;
}

/**
 * Derives a class that hides the token. Its instances are instances of `record`, with a readable
 * `auth_token`.
 */
function withHiddenToken<User extends UserRecord>(record: UserRecordClass<User>): HiddenTokenClass<User> {
  const derived = class extends (record as UserRecordClass) {
    #token: unknown;

    static hideToken(user: object, token: unknown): void {
      if (#token in user) user.#token = token;
    }

    static tokenOf(user: object): unknown {
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
  return {
    record: derived as unknown as UserRecordClass<User>,
    hideToken: (user, value) => derived.hideToken(user, value),
  };
}

type Build = (json: object) => object;

/**
 * Compiles a function that builds a record from JSON with its declared fields only, at every depth, and
 * without the field `except`.
 */
function compileRecordBuilder(record: new () => object, except?: string): Build {
  const fields = fieldsOf(record).filter(({ name }) => name !== except);
  return fields.some((field) => isTransformed(record, field))
    ? transformerOf(record)
    : fieldCopierOf(record, fields);
}

/** Copies the declared fields unchanged, and builds the values of nested classes. */
function fieldCopierOf(record: new () => object, fields: readonly FieldDescription[]): Build {
  const steps = fields.map(({ name, nested }) => ({
    name,
    buildNested: nested && compileRecordBuilder(nested),
  }));
  return (json) => {
    const instance = new record() as Fields;
    for (const { name, buildNested } of steps) {
      const value: unknown = Object.hasOwn(json, name) ? (json as Fields)[name] : undefined;
      instance[name] = buildNested ? mapObjects(value, buildNested) : value;
    }
    return instance;
  };
}

function mapObjects(value: unknown, build: Build): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, build));
  return typeof value === 'object' && value !== null ? build(value) : value;
}

/** Builds the record with class-transformer, for classes that use more of it than nested types. */
function transformerOf(record: new () => object): Build {
  return (json) => {
    const instance = plainToInstance(record, json);
    removeUndeclared(instance);
    return instance;
  };
}

function removeUndeclared(value: unknown): void {
  if (Array.isArray(value)) value.forEach(removeUndeclared);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const fields = fieldsOf(value.constructor as new () => object);
  for (const name of Object.keys(value)) {
    const field = fields.find((declared) => declared.name === name);
    if (!field) Reflect.deleteProperty(value, name);
    else if (field.nested) removeUndeclared((value as Fields)[name]);
  }
}
