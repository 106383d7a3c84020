/**
 * Returns whether a function is a class, which throws when it is called. The text of a method may begin like
 * that of a class: `classOf() {`, `class() {`.
 */
export function isClass(value: object): boolean {
  return /^class(?!\s*\()[\s{/]/.test(Function.prototype.toString.call(value));
}
