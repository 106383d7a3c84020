import { type FieldDescription, fieldsOf, type RecordClass } from './field-descriptions.js';

/** A field that the decorators of its class reject. Contains nothing of its value. */
export interface InvalidField {
  /** Path from the record, such as `ccl_info.client_id`. */
  readonly path: string;
  /** Text of the violated rule, with `$property` for the path. */
  readonly expectation: string;
}

/**
 * Returns the first field of a record that is invalid by the decorators of its class, as class-validator
 * decides, from decorators that were read once; `undefined` if the record is valid.
 */
export function findInvalidField(
  record: object,
  fields: readonly FieldDescription[],
): InvalidField | undefined {
  for (const field of fields) {
    const invalid = checkField(field, record as Readonly<Record<string, unknown>>);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

function checkField(
  { name, checks, conditions, nested }: FieldDescription,
  owner: Readonly<Record<string, unknown>>,
): InvalidField | undefined {
  const value = owner[name];
  for (const applies of conditions) if (!applies(value, owner)) return undefined;
  for (const { accepts, expectation } of checks)
    if (!accepts(value, owner)) return { path: name, expectation };
  return nested === undefined || value === undefined ? undefined : checkNested(name, value);
}

const NOT_NESTED = '$property must be an object, or a list of objects, of a class with decorated fields';

/** A nested value must be an object of a described class, or an array of such objects. */
function checkNested(name: string, value: unknown): InvalidField | undefined {
  if (Array.isArray(value)) return checkItems(name, value);
  if (typeof value !== 'object' || value === null) return { path: name, expectation: NOT_NESTED };
  const fields = fieldsOf(value.constructor as RecordClass);
  if (fields.length === 0) return { path: name, expectation: NOT_NESTED };
  const invalid = findInvalidField(value, fields);
  return invalid && within(name, invalid);
}

function checkItems(name: string, items: readonly unknown[]): InvalidField | undefined {
  for (const item of items) {
    const invalid = checkNested(name, item);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

/** Longer paths occur only in classes that contain themselves. */
const MAX_PATH_LENGTH = 200;

/** Returns an invalid field of a nested object, with its path from the owner of the object. */
function within(name: string, { path, expectation }: InvalidField): InvalidField {
  return { path: path.length > MAX_PATH_LENGTH ? path : `${name}.${path}`, expectation };
}
