import { describe, expect, it } from '@jest/globals';
import { StrangersLimit } from './strangers-limit.js';

const TIMEOUT_MS = 3_000;

/** A limit with 128 places, and calls that end at the same time. */
function limitOf(maxInFlight = 128) {
  let now = 10_000;
  const limit = new StrangersLimit({ maxInFlight, timeoutMs: TIMEOUT_MS });
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
