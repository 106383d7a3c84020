import { CCL_FIELDS, type FieldType, TOKEN_FIELD, USER_FIELDS } from './record-fields.js';
import {
  CclInfo,
  type ReadUser,
  type ReportInvalid,
  UserRecord,
  type UserRecordClass,
} from './user-record.js';

/** The fields of a record, or of JSON, by their names. */
type Fields = Record<string, unknown>;

/** Replaces values of a record by equal values of earlier records. */
type ShareValues = (user: Fields) => void;

/** A class of user records, or a schema, as the library reads it. */
interface RecordReader {
  /** Names of the fields that the class declares; `undefined` if a schema does, which does not list them. */
  readonly fields: ReadonlySet<string> | undefined;
  /**
   * Returns the frozen record in a parsed JSON object, without undeclared fields and with `undefined` for
   * `null`. Reports JSON that the class or the schema rejects, and returns `undefined`.
   */
  readonly read: ReadUser<UserRecord>;
}

/** Prepares the reader of the records of a registration, at startup. */
export type PrepareReader = (share?: ShareValues) => RecordReader;

/** Returns a reader that rejects and reports a record in which none of these fields is a non-empty string. */
export function identifying(fields: readonly string[], read: ReadUser<UserRecord>): ReadUser<UserRecord> {
  return (json, report) => {
    const user = read(json, report);
    if (!user) return undefined;
    for (const name of fields) {
      const value = user[name as keyof UserRecord];
      if (typeof value === 'string' && value !== '') return user;
    }
    report?.('', `one of ${fields.join(', ')} (identityFields) must be a non-empty string`);
    return undefined;
  };
}

/** Requirement of each type of a field, as the decorators of its class state it. */
const REQUIREMENTS: Readonly<Record<FieldType, string>> = {
  string: 'must be a string',
  boolean: 'must be a boolean value',
  id: 'must be a safe integer',
  object: 'must be an object',
};

/** Prepares the reader of {@link UserRecord} itself, from a table: the classes of applications are described. */
export const prepareUserReader: PrepareReader = (share) => {
  const hidden = withHiddenToken(UserRecord);
  const read: ReadUser<UserRecord> = (json, report) => {
    const user = new hidden() as Fields;
    if (!copyFields(json, user, USER_FIELDS, report) || !copyFields(json, user, TOKEN_FIELD, report))
      return undefined;
    if (user.ccl_info !== undefined) {
      const info = new CclInfo() as Fields;
      if (!copyFields(user.ccl_info as object, info, CCL_FIELDS, report, 'ccl_info.')) return undefined;
      user.ccl_info = Object.freeze(info);
    }
    share?.(user);
    return Object.freeze(user);
  };
  return { fields: new Set([...USER_FIELDS, ...TOKEN_FIELD].map(([name]) => name)), read };
};

/** Copies fields, or reports the first one of the wrong type and returns `false`. */
function copyFields(
  json: object,
  target: Fields,
  types: typeof USER_FIELDS,
  report: ReportInvalid | undefined,
  path = '',
): boolean {
  for (const [name, type] of types) {
    // Nothing that other code added to `Object.prototype`.
    const value = Object.hasOwn(json, name) ? ((json as Fields)[name] ?? undefined) : undefined;
    const isAccepted =
      value === undefined ||
      (type === 'id' ? Number.isSafeInteger(value) : typeof value === type && !Array.isArray(value));
    if (!isAccepted) {
      report?.(path + name, `${path}${name} ${REQUIREMENTS[type]}`);
      return false;
    }
    target[name] = value;
  }
  return true;
}

/**
 * Derives a class that hides the token from enumeration, serialization and inspection. Its instances are
 * instances of `record`, with an `auth_token` that can be set until they are frozen.
 */
export function withHiddenToken(record: UserRecordClass): UserRecordClass {
  return class extends record {
    #token: unknown;

    static {
      const token: PropertyDescriptor & ThisType<object> = {
        get() {
          return #token in this ? this.#token : undefined;
        },
        set(value) {
          if (!(#token in this) || Object.isFrozen(this))
            throw new TypeError('auth_token can not be set: the user record is frozen');
          this.#token = value ?? undefined;
        },
      };
      Object.defineProperty(this.prototype, 'auth_token', token);
      Object.defineProperty(this, 'name', { value: record.name });
    }
  };
}

/** Fields with values that many users share. */
const COMMON_FIELDS = [
  'first_name',
  'last_name',
  'role',
  'sub_role',
  'preffered_language',
  'client_name',
  'display_label',
] as const satisfies (keyof UserRecord)[];

const MAX_VALUES = 1_000;
const MAX_LENGTH = 128;

/**
 * Returns a function that makes records share equal values, so that each value is in memory once, up to a
 * limit per field: a cache of records is a third smaller.
 */
export function internCommonValues(): ShareValues {
  const texts = COMMON_FIELDS.map((name) => ({ name, share: internTable<string>() }));
  const shareCclInfo = internTable<CclInfo>();
  return (user) => {
    for (const { name, share } of texts) {
      const text = user[name];
      if (typeof text === 'string') user[name] = share(text, text);
    }
    const cclInfo = user.ccl_info;
    if (cclInfo instanceof CclInfo && cclInfo.constructor === CclInfo)
      user.ccl_info = shareCclInfo(JSON.stringify(cclInfo), cclInfo);
  };
}

/** Returns a function that returns the first value passed with a key. */
function internTable<Value>(): (key: string, value: Value) => Value {
  const values = new Map<string, Value>();
  return (key, value) => {
    const interned = values.get(key);
    if (interned === undefined && values.size < MAX_VALUES && key.length <= MAX_LENGTH)
      values.set(key, value);
    return interned ?? value;
  };
}
