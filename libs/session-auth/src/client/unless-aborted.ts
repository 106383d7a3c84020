/** Waits for a result until the caller gives up. What others share goes on without him. */
export function abortable<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
