/** Suites that take long have a short form, which `npm test` runs; `LONG_TESTS=1` runs them whole. */
export const IS_LONG_FORM = process.env.LONG_TESTS === '1';

/** All of them in the long form, and the last alone in the short one: for suites that do not depend on them. */
export function oneOf<Item>(items: readonly Item[]): readonly Item[] {
  return IS_LONG_FORM ? items : items.slice(-1);
}
