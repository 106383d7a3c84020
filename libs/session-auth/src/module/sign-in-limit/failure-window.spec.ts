import { beforeEach, describe, expect, it } from '@jest/globals';
import { FailureCounts } from './failure-counts.js';

describe('the failures of a key', () => {
  let nowMs: number;
  let counts: FailureCounts;

  beforeEach(() => {
    nowMs = 5_000;
    counts = new FailureCounts({ failures: 3, windowMs: 1_000, maxKeys: 5 }, () => nowMs);
  });

  function failAt(...timesMs: number[]): void {
    for (const timeMs of timesMs) {
      nowMs = timeMs;
      counts.add('key');
    }
  }
  const waitAt = (timeMs: number): number => {
    nowMs = timeMs;
    return counts.waitMs('key');
  };

  it('that fill the limit are waited for until the first of them no longer counts', () => {
    failAt(5_000, 5_250, 5_500);
    expect([5_500, 5_900, 5_999, 6_000].map(waitAt)).toEqual([500, 100, 1, 0]);
  });

  it('each count for the whole window, and no longer', () => {
    failAt(5_000, 5_250, 5_500, 6_000);
    expect([6_000, 6_249, 6_250].map(waitAt)).toEqual([250, 1, 0]);
    failAt(6_250);
    expect([6_250, 6_499, 6_500].map(waitAt)).toEqual([250, 1, 0]);
  });

  it('beyond the limit are waited for from the first that counts', () => {
    failAt(5_000, 5_100, 5_200, 5_300);
    expect(waitAt(5_300)).toBe(700);
  });

  it('leave room for attempts, of which each has its place until its end', () => {
    failAt(5_000);
    counts.reserve('key');
    expect(waitAt(5_000)).toBe(0);
    counts.reserve('key');
    expect(waitAt(5_000)).toBe(1);
    counts.release('key');
    counts.reserve('key');
    expect(waitAt(5_000)).toBe(1);
    counts.release('key');
    expect(waitAt(5_000)).toBe(0);
  });

  it('and its attempts have an entry each', () => {
    failAt(5_000, 5_000);
    counts.reserve('key');
    counts.reserve('key');
    counts.reserve('other');
    expect(counts.size).toBe(3);
    for (const key of ['key', 'other']) counts.release(key);
    expect(counts.size).toBe(2);
    counts.release('key');
    expect(counts.size).toBe(1);
    counts.clear('key');
    expect(counts.size).toBe(0);
  });
});
