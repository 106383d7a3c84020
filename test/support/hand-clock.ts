import { afterEach, beforeEach, jest } from '@jest/globals';

/** A monotonic clock that stands still until the test moves it. */
export interface HandClock {
  advance(ms: number): void;
}

/** Replaces the monotonic clock by one that the test advances; timers keep running. Call it inside `describe`. */
export function handClock(): HandClock {
  let nowMs = 1_000_000;
  let spy: { mockRestore(): void } | undefined;
  beforeEach(() => {
    spy = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  });
  afterEach(() => spy?.mockRestore());
  return { advance: (ms) => void (nowMs += ms) };
}
