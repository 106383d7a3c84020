import { afterEach, beforeEach, jest } from '@jest/globals';

/** Clocks that stand still until the test moves them: the monotonic one and the wall clock. */
export interface HandClock {
  /** Moves both. */
  advance(ms: number): void;
  /** Moves the wall clock only, on or back. */
  moveWall(ms: number): void;
}

/** Replaces the clocks by ones that the test moves; timers keep running. Call it inside `describe`. */
export function handClock(): HandClock {
  let nowMs = 1_000_000;
  let wallMs = Date.now();
  let spies: { mockRestore(): void }[] = [];
  beforeEach(() => {
    spies = [
      jest.spyOn(performance, 'now').mockImplementation(() => nowMs),
      jest.spyOn(Date, 'now').mockImplementation(() => wallMs),
    ];
  });
  afterEach(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const moveWall = (ms: number): void => void (wallMs += ms);
  const advance = (ms: number): void => {
    nowMs += ms;
    moveWall(ms);
  };
  return { advance, moveWall };
}
