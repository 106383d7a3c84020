import { describe, expect, it, jest } from '@jest/globals';
import { StrangersLimit } from './strangers-limit.js';

let nowMs = 0;

/** Lets strangers fill the limit again and again, for so many looks at calls of this duration. */
function looksAt(limit: StrangersLimit, looks: number, durationMs: number): number[] {
  return Array.from({ length: looks }, () => {
    const inFlight = limit.current;
    nowMs += 10_000;
    for (let call = 0; call < 10; call += 1) limit.record(durationMs, nowMs, inFlight);
    for (let call = 0; call < 10; call += 1) limit.recordKnown(durationMs, nowMs);
    return limit.current;
  });
}

const settings = { maxInFlight: 128, timeoutMs: 3_000 };

describe('the limit of strangers', () => {
  it('starts at 16 calls or an eighth of the places, and never above the places', () => {
    const first = (maxInFlight: number): number => new StrangersLimit({ ...settings, maxInFlight }).current;
    expect([1, 8, 16, 128, 1_000].map(first)).toEqual([1, 8, 16, 16, 125]);
  });

  it('grows by a quarter, up to all places, while calls do not slow down', () => {
    expect(looksAt(new StrangersLimit(settings), 12, 450)).toEqual([
      20, 25, 32, 40, 50, 63, 79, 99, 124, 128, 128, 128,
    ]);
  });

  it('is enforced only for five minutes after each check of a known session', () => {
    const limit = new StrangersLimit(settings);
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    expect(limit.isReached(16)).toBe(false);
    limit.enforce(1_000_000);
    expect([limit.isReached(15), limit.isReached(16)]).toEqual([false, true]);
    now.mockReturnValue(1_299_999);
    expect(limit.isReached(16)).toBe(true);
    now.mockReturnValue(1_300_000);
    expect(limit.isReached(16)).toBe(false);
    now.mockRestore();
  });

  it('does not react to calls that are fast relative to the total time', () => {
    const limit = new StrangersLimit(settings);
    looksAt(limit, 1, 2);
    const seen = looksAt(limit, 12, 299);
    expect(Math.min(...seen)).toBe(25);
  });

  it('falls to its minimum when all calls time out, stays there, and recovers', () => {
    const limit = new StrangersLimit(settings);
    expect(looksAt(limit, 6, 3_000)).toEqual([8, 4, 4, 4, 4, 4]);
    expect(looksAt(limit, 20, 450).at(-1)).toBe(128);
  });

  it('is always a whole number of at least 1', () => {
    const limit = new StrangersLimit({ ...settings, maxInFlight: 2 });
    expect(looksAt(limit, 5, 3_000)).toEqual([1, 1, 1, 1, 1]);
  });
});

/** A limit with 128 places, and calls that end at the same time. */
function limitOf() {
  let now = 10_000;
  const limit = new StrangersLimit(settings);
  const known = (...durationsMs: number[]): number => {
    now += 10_000;
    for (const durationMs of durationsMs) limit.recordKnown(durationMs, now);
    return limit.current;
  };
  return {
    limit,
    known,
    /** Adds a sample of calls of known sessions, which take the same time. */
    knownTake: (durationMs: number) => known(...times(10, durationMs)),
    strangers: (inFlight: number, ...durationsMs: number[]): number => {
      now += 10_000;
      for (const durationMs of durationsMs) limit.record(durationMs, now, inFlight);
      return limit.current;
    },
  };
}

const times = (count: number, durationMs: number): number[] => Array<number>(count).fill(durationMs);

/** Lets the limit of 128 places grow from 16 to 128. */
function grown() {
  const trial = limitOf();
  trial.strangers(128, ...times(10, 100));
  trial.knownTake(100);
  expect(trial.limit.current).toBe(128);
  return trial;
}

describe('a sample of strangers', () => {
  it('lets the limit grow if at least half of its calls take at most a quarter of the total time', () => {
    expect(limitOf().strangers(16, ...times(5, 751), ...times(5, 750))).toBe(20);
    expect(limitOf().strangers(16, ...times(6, 751), ...times(4, 750))).toBe(16);
  });
});

describe('a sample of known sessions', () => {
  it('lets the limit grow if it is not slow, and strangers reached the limit, however slow those are', () => {
    const { strangers, knownTake } = limitOf();
    expect(strangers(16, ...times(10, 2_000))).toBe(16);
    expect(knownTake(100)).toBe(20);
  });

  it('is slow if more than half of its calls take more than twice the lowest average', () => {
    const half = limitOf();
    half.knownTake(200);
    expect(half.known(...times(5, 401), ...times(5, 400))).toBe(16);
    expect(half.known(...times(6, 401), ...times(4, 400))).toBe(8);
  });

  it('reduces the limit to half of the strangers in flight', () => {
    const { strangers, knownTake } = grown();
    strangers(40, ...times(10, 2_000));
    expect(knownTake(2_000)).toBe(20);
  });

  it('reduces it further while reductions make calls faster, and restores it otherwise', () => {
    for (const [averageMs, limit] of [
      [1_599, 16],
      [1_600, 128],
    ] as const) {
      const { knownTake } = grown();
      expect([2_000, 1_900, averageMs].map(knownTake)).toEqual([64, 32, limit]);
    }
  });

  it('restores the limit from its minimum, unless calls take three quarters of the total time', () => {
    for (const [averageMs, limit] of [
      [1_000, 16],
      [2_249, 16],
      [2_250, 4],
    ] as const) {
      const { knownTake } = limitOf();
      knownTake(100);
      expect([2_250, 2_250, averageMs].map(knownTake)).toEqual([8, 4, limit]);
    }
  });

  it('is not affected by calls that began before it', () => {
    const { limit, knownTake } = limitOf();
    knownTake(100);
    for (let call = 0; call < 100; call += 1) limit.recordKnown(2_900, 20_001);
    expect(knownTake(2_000)).toBe(8);
  });
});
