import { afterAll } from '@jest/globals';

const TICK_MS = 20;
/** A timer may be as late as this on a machine that is only busy. */
const LATE_MS = 200;
/** How long a stall has effects: a store that answered late is not called for up to 5 s. */
const AFTERMATH_MS = 10_000;
const PATIENCE_MS = 120_000;

let stalledAt = -Infinity;

/** Records a stall of a process of the test. */
export function noteStall(): void {
  stalledAt = performance.now();
}

let expectedAt = performance.now() + TICK_MS;
const ticker = setInterval(() => {
  const now = performance.now();
  if (now - expectedAt > LATE_MS) noteStall();
  expectedAt = now + TICK_MS;
}, TICK_MS).unref();
afterAll(() => clearInterval(ticker));

/**
 * The body of a test whose outcome depends on answers within a limit that the library does not let tests raise, such as the second of a store. It is tried
 * again if it fails while a process stands still, or soon after: that says nothing about the library. Each try needs sessions of its own.
 */
export function steady<Args extends unknown[]>(body: (...args: Args) => Promise<void>): (...args: Args) => Promise<void> {
  return async (...args) => {
    for (const giveUpAt = performance.now() + PATIENCE_MS; ;) {
      const began = performance.now();
      try {
        await body(...args);
        return;
      } catch (error) {
        if (stalledAt < began - AFTERMATH_MS || performance.now() > giveUpAt) throw error;
        process.stderr.write(`Tried again after a stall: ${String(error).split('\n', 1)[0] ?? ''}\n`);
      }
    }
  };
}
