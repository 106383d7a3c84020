import { afterEach, beforeEach, jest } from '@jest/globals';

/** A monotonic clock that stands still until the test moves it. */
export interface HandClock {
  advance(ms: number): void;
}

/** Puts a clock that the test moves in the place of the monotonic one; timers run on. Call it inside `describe`. */
export function handClock(): HandClock {
  let nowMs = 1_000_000;
  let spy: { mockRestore(): void } | undefined;
  beforeEach(() => {
    spy = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  });
  afterEach(() => spy?.mockRestore());
  return { advance: (ms) => void (nowMs += ms) };
}
