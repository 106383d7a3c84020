/** Replaces `node:timers/promises` of the library, with virtual timers. */
export function setTimeout<Value>(
  ms?: number,
  value?: Value,
  { ref = true, signal }: { ref?: boolean; signal?: AbortSignal } = {},
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => resolve(value), ms);
    if (!ref) timer.unref();
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('The operation was aborted'));
    });
  });
}
