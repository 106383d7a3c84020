/**
 * Returns whether code of the application answers later: with a promise, or with another object that has a
 * `then()`, such as the query of a library for databases. One whose `then` can't be read counts too: awaited, it
 * rejects.
 */
export function isThenable(result: unknown): result is PromiseLike<unknown> {
  try {
    return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return true;
  }
}

/**
 * Returns whether code of the application answers later, where only an answer at once counts. The late answer
 * is not used; a rejection, which would end the process, is handled here.
 */
export function isLate(
  result: unknown,
  rejected: () => void = () => undefined,
): result is PromiseLike<unknown> {
  if (!isThenable(result)) return false;
  Promise.resolve(result).catch(rejected);
  return true;
}
