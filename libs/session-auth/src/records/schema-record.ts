import { InvalidConfigurationError } from '../contract/errors.js';
import { type PrepareReader, withHiddenToken } from '../contract/record/user-reader.js';
import type { UserRecord, UserRecordClass, UserRecordSchema } from '../contract/record/user-record.js';
import { isLate } from '../contract/late-results.js';
import { frozenCopy } from './frozen-copy.js';
import { ownField, prepareReader } from './record-class.js';

type Fields = Record<string, unknown>;

/** Why a record is refused: a path into it, and what must be there. */
type Refusal = readonly [path: string, requirement: string];

/** Some libraries turn an error that a schema throws into a late answer. */
const UNUSABLE = 'made its schema throw an error, or answer later';

/** A path leads into a record, and may have names that are data: they could write lines of the log. */
const FIELD_NAME = /^[\w$-]{1,64}$/;
const MAX_PATH_LENGTH = 200;

/** Prepares the reader of the application's own records: of a class, or by a schema. */
export function prepareOwnReader(record: UserRecordClass | UserRecordSchema): PrepareReader {
  return '~standard' in record ? prepareSchemaReader(record) : prepareReader(record);
}

/**
 * Prepares the reader of records that a Standard Schema describes. `null` counts as absent, as it does in a
 * class; which fields a record keeps is up to the schema.
 */
const prepareSchemaReader =
  (schema: UserRecordSchema): PrepareReader =>
  (report, share) => {
    const validate = (value: object) => schema['~standard'].validate(value);
    rejectUnusableSchema(validate);
    const hidden = withHiddenToken(Object);
    const readFields = (json: object): UserRecord | Refusal => {
      const result = validate(withoutNulls(json));
      if (isLate(result)) return ['', UNUSABLE];
      if (result.issues) return [pathOf(result.issues[0]?.path), 'must be what the schema says'];
      const { value } = result;
      if (isLate(value) || !isObject(value)) return ['', 'must become an object by its schema'];
      const user = new hidden() as Fields;
      const refusal = copyFields(value, user);
      if (refusal) return refusal;
      hidden.hideToken(user, ownField(json, 'auth_token') ?? undefined);
      share?.(user);
      return Object.freeze(user);
    };
    const tryFields = (json: object): UserRecord | Refusal => {
      const token = ownField(json, 'auth_token') ?? '';
      if (typeof token !== 'string') return ['auth_token', 'must be a string'];
      try {
        return readFields(json);
      } catch {
        // The text of the error may contain the value.
        return ['', UNUSABLE];
      }
    };
    const read = (json: object): UserRecord | undefined => {
      const user = tryFields(json);
      if (!isRefusal(user)) return user;
      const [path, requirement] = user;
      report(path, `${path || 'the record'} ${requirement}`);
      return undefined;
    };
    return { fields: undefined, read };
  };

/** Returns why a field can't be in a record, if one can't. */
function copyFields(value: Fields, user: Fields): Refusal | undefined {
  let refusal: Refusal | undefined;
  for (const [name, item] of Object.entries(value)) {
    const refuse = (requirement: string): void => void (refusal ??= [pathOf([name]), requirement]);
    const copy = frozenCopy(item, refuse);
    if (name !== 'auth_token' && name !== '__proto__') user[name] = copy;
  }
  return refusal;
}

function isRefusal(read: UserRecord | Refusal): read is Refusal {
  return Array.isArray(read);
}

function rejectUnusableSchema(validate: (value: object) => unknown): void {
  try {
    if (!isLate(validate({}))) return;
  } catch {
    // It is rejected below.
  }
  throw new InvalidConfigurationError(
    'SessionAuthModule: userRecord is a schema that throws an error, or answers later, for an object without fields. Use a schema that answers at once.',
  );
}

/** A copy without the fields that are `null`, at every depth, and without `__proto__`. */
function withoutNulls(value: object): object {
  const copy = (item: unknown): unknown =>
    isObject(item) || Array.isArray(item) ? withoutNulls(item) : item;
  if (Array.isArray(value)) return value.map(copy);
  const kept = Object.entries(value).filter(([name, item]) => item !== null && name !== '__proto__');
  return Object.fromEntries(kept.map(([name, item]) => [name, copy(item)]));
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return names
    .map((name) => (FIELD_NAME.test(name) ? name : '*'))
    .join('.')
    .slice(0, MAX_PATH_LENGTH);
}
