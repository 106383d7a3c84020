import { ignoreLate, isThenable } from '../contract/late-results.js';

/** A value that no record can keep. Its message has nothing of the value. */
export class UnusableValue extends Error {}

/**
 * Returns a frozen copy of plain objects and arrays, at every depth: what a schema or a transformation returns
 * may belong to the application. Any other object, such as a `Date`, stays as it is, and is not frozen.
 * @throws UnusableValue if a value contains itself, or a promise
 */
export function frozenCopy(value: unknown, within = new Set()): unknown {
  if (isThenable(value)) {
    ignoreLate(value);
    throw new UnusableValue('must not contain a promise');
  }
  if (!Array.isArray(value) && !isPlain(value)) return value;
  if (within.has(value)) throw new UnusableValue('must not contain itself');
  within.add(value);
  const copy = Array.isArray(value)
    ? value.map((item) => frozenCopy(item, within))
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, frozenCopy(item, within)]));
  within.delete(value);
  return Object.freeze(copy);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
