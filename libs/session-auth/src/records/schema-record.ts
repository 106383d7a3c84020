import { invalidOption } from '../contract/errors.js';
import { isLate } from '../contract/late-results.js';
import { type PrepareReader, withHiddenToken } from '../contract/record/user-reader.js';
import type { UserRecordSchema } from '../contract/record/user-record.js';
import { frozenCopy } from './frozen-copy.js';
import { pathOf, type Refusal, reporting } from './refusal.js';

type Fields = Record<string, unknown>;

/** Some libraries turn an error that a schema throws into a late answer. */
const UNUSABLE = 'must not make its schema throw an error, or answer later';

/**
 * Prepares the reader of records that a Standard Schema describes. `null` counts as absent, as it does in a
 * class; which fields a record keeps is up to the schema.
 */
export const prepareSchemaReader =
  (schema: UserRecordSchema): PrepareReader =>
  (share) => {
    const validate = (value: object) => schema['~standard'].validate(value);
    rejectUnusableSchema(validate);
    const hidden = withHiddenToken(Object);
    const read = reporting(UNUSABLE, (json) => {
      const result = validate(withoutNulls(json));
      if (isLate(result)) return ['', UNUSABLE];
      if (result.issues) return [pathOf(result.issues[0]?.path), 'must be what the schema says'];
      const { value } = result;
      if (isLate(value) || !isObject(value)) return ['', 'must be an object by its schema'];
      const user = new hidden() as Fields;
      const refusal = copyFields(value, user);
      if (refusal) return refusal;
      const token = tokenIn(value) ?? tokenIn(json) ?? undefined;
      if (token !== undefined && typeof token !== 'string') return ['auth_token', 'must be a string'];
      user.auth_token = token;
      share?.(user);
      return Object.freeze(user);
    });
    return { fields: undefined, read };
  };

/** A schema may map the token. Otherwise it is the one that the service sent, which most schemas drop. */
function tokenIn(fields: object): unknown {
  return Object.hasOwn(fields, 'auth_token') ? (fields as Fields).auth_token : undefined;
}

/** Returns why a field can't be in a record, if one can't. */
function copyFields(value: Fields, user: Fields): Refusal | undefined {
  let refusal: Refusal | undefined;
  for (const [name, item] of Object.entries(value)) {
    const copy = frozenCopy(item, (requirement) => (refusal ??= [pathOf([name]), requirement]));
    if (name !== 'auth_token' && name !== '__proto__') user[name] = copy;
  }
  return refusal;
}

function rejectUnusableSchema(validate: (value: object) => unknown): void {
  try {
    if (!isLate(validate({}))) return;
  } catch {
    // It is rejected below.
  }
  invalidOption(
    'userRecord',
    'is a schema that throws an error, or answers later, for an object without fields',
    'Use a schema that answers at once',
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
