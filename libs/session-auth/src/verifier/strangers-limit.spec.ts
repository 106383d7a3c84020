import { describe, expect, it, jest } from '@jest/globals';
import { StrangersLimit } from './strangers-limit.js';

let nowMs = 0;

/**
 * Lets strangers fill the limit again and again, for so many looks at the durations of all calls;
 * `durationOf` gives how long they take.
 */
function looksAt(
  limit: StrangersLimit,
  looks: number,
  durationOf: (inFlight: number) => number,
  fill = 1,
): number[] {
  return Array.from({ length: looks }, () => {
    const inFlight = Math.ceil(limit.current * fill);
    nowMs += 10_000;
    for (let call = 0; call < 10; call += 1) limit.record(durationOf(inFlight), nowMs, inFlight);
    for (let call = 0; call < 10; call += 1) limit.recordKnown(durationOf(inFlight), nowMs);
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
    expect(looksAt(new StrangersLimit(settings), 12, () => 450)).toEqual([
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

  it('grows to the number in flight before it is enforced, while strangers are answered quickly', () => {
    const limit = new StrangersLimit(settings);
    for (let call = 0; call < 128; call += 1) limit.record(450, nowMs + 1_000, 128 - call);
    expect(limit.current).toBe(128);
  });

  it('does not fall for calls of strangers, fast or slow: an anonymous caller could make good calls look slow', () => {
    const limit = new StrangersLimit(settings);
    for (const durationMs of [2, 450, 2, 3_000, 3_000]) {
      nowMs += 10_000;
      for (let call = 0; call < 10; call += 1) limit.record(durationMs, nowMs, limit.current);
    }
    expect(limit.current).toBeGreaterThanOrEqual(16);
  });

  it('does not grow while it is not reached', () => {
    expect(looksAt(new StrangersLimit(settings), 3, () => 450, 0.5)).toEqual([16, 16, 16]);
  });

  it('becomes half of the calls in flight when calls take more than twice as long as at best', () => {
    const seen = looksAt(new StrangersLimit(settings), 40, (inFlight) => 450 * Math.max(1, inFlight / 16));
    expect(Math.max(...seen)).toBeLessThanOrEqual(40);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(16);
  });

  it('does not react to calls that are fast relative to the total time', () => {
    const limit = new StrangersLimit(settings);
    looksAt(limit, 1, () => 2);
    const seen = looksAt(limit, 12, () => 299);
    expect(seen.at(-1)).toBe(128);
  });

  it('falls to its minimum when all calls time out, stays there, and recovers', () => {
    const limit = new StrangersLimit(settings);
    expect(looksAt(limit, 6, () => 3_000)).toEqual([8, 4, 4, 4, 4, 4]);
    expect(looksAt(limit, 20, () => 450).at(-1)).toBe(128);
  });

  it('does not react to a few calls that hang among many that do not', () => {
    const limit = new StrangersLimit(settings);
    let call = 0;
    expect(looksAt(limit, 12, () => ((call += 1) % 10 < 4 ? 3_000 : 5)).at(-1)).toBe(128);
  });

  it('is always a whole number of at least 1', () => {
    const limit = new StrangersLimit({ ...settings, maxInFlight: 2 });
    expect(looksAt(limit, 5, () => 3_000)).toEqual([1, 1, 1, 1, 1]);
  });
});
