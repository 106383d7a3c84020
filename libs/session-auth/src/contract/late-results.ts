/**
 * Whether code of the application answers later: with a promise, or with any object that has a `then()`, as
 * queries of some libraries for databases have.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (Object(value) as { readonly then?: unknown }).then === 'function';
  } catch {
    // Whoever waits for it gets the error.
    return true;
  }
}

/** Ignores a result that comes too late to be used. Its rejection would end the process. */
export function ignoreLate(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).catch(() => undefined);
}
