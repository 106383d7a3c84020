import { isLate } from '../contract/late-results.js';

/**
 * Returns a frozen copy of a value of a record. Only plain objects and lists are copied, at every depth: an
 * object of a class may be in use elsewhere in the application, and stays as it is.
 * @param refuse receives what the value must not be. All of it is visited even so: a promise in it may reject
 */
export function frozenCopy(
  value: unknown,
  refuse: (requirement: string) => void,
  copies = new Map<object, object>(),
): unknown {
  if (isLate(value)) refuse('must not be a promise, nor contain one');
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const known = copies.get(value);
  if (known) {
    if (!Object.isFrozen(known)) refuse('must not contain itself');
    return known;
  }
  const copy: Record<string, unknown> = Array.isArray(value) ? ([] as never) : {};
  copies.set(value, copy);
  for (const [name, item] of Object.entries(value))
    if (name !== '__proto__') copy[name] = frozenCopy(item, refuse, copies);
  return Object.freeze(copy);
}

/** The prototype of plain objects, of any realm, is the only one without a prototype. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}
