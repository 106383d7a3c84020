/** Replaces `node:timers/promises` of the library, with virtual timers. */
export function setTimeout<Value>(ms?: number, value?: Value, { ref = true } = {}): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = globalThis.setTimeout(() => resolve(value), ms);
    if (!ref) timer.unref();
  });
}
