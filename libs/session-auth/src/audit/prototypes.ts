/**
 * Returns the prototypes of a class, the nearest first; or an instance and its prototypes. Nest takes both as
 * guards and interceptors.
 */
export function prototypesOf(enhancer: unknown): object[] {
  const prototypes: object[] = [];
  let next = (typeof enhancer === 'function' ? enhancer.prototype : enhancer) as object | null | undefined;
  for (; next; next = Object.getPrototypeOf(next) as object | null) prototypes.push(next);
  return prototypes;
}

/** Returns the name of the class of a prototype; `undefined` for an object without a class. */
export function classNameOf(prototype: object): string | undefined {
  return (prototype.constructor as { readonly name: string } | undefined)?.name;
}
