import { fieldsOf, type FieldDescription } from './record-description.js';

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
