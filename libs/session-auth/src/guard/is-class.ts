import type { Type } from '@nestjs/common';

/**
 * Returns whether a function is a class, which throws when it is called. The text of a method may begin like
 * that of a class: `classOf() {`, `class() {`.
 */
export function isClass(value: object): boolean {
  return /^class(?!\s*\()[\s{/]/.test(Function.prototype.toString.call(value));
}

/** Returns whether a value is a class, which may be compiled to a function: it then has the method. */
export function isClassWith(method: string, value: unknown): value is Type {
  if (typeof value !== 'function') return false;
  const prototype = value.prototype as Readonly<Record<string, unknown>> | undefined;
  return typeof prototype?.[method] === 'function' || isClass(value);
}
