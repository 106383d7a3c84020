import { afterAll } from '@jest/globals';

const TICK_MS = 10;

/** Milliseconds by which the ticks of this process have come late, all together. */
let lateMs = 0;
let expectedAt = performance.now() + TICK_MS;

const ticker = setInterval(measure, TICK_MS).unref();
afterAll(() => clearInterval(ticker));

function measure(): void {
  const now = performance.now();
  lateMs += Math.max(0, now - expectedAt);
  expectedAt = now + TICK_MS;
}

/**
 * Returns a function that returns for how many milliseconds this process has stood still since: a busy
 * machine runs another program, or the process computes. Whatever waits for a timer or a reply in this
 * process is late by as much, which is not the fault of what it waits for.
 */
export function measureStalls(): () => number {
  measure();
  const before = lateMs;
  return () => {
    measure();
    return lateMs - before;
  };
}
