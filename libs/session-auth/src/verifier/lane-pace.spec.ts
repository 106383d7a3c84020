import { describe, expect, it } from '@jest/globals';
import { Pace } from './lanes.js';

function paceAfter(...durationsMs: number[]): Pace {
  const pace = new Pace(3_000);
  for (const durationMs of durationsMs) pace.record(durationMs);
  return pace;
}

describe('the pace of a lane', () => {
  it('is 0 at first, then the first duration, then a moving average', () => {
    expect(paceAfter().usualMs).toBe(0);
    expect(paceAfter(400).usualMs).toBe(400);
    expect(paceAfter(400, 800).usualMs).toBe(450);
    expect(paceAfter(400, ...Array<number>(50).fill(800)).usualMs).toBeCloseTo(800, -1);
  });

  it('requires twice the usual duration to begin a call, and at most half of the total time', () => {
    const leastOf = (pace: Pace): number | undefined =>
      [299, 300, 899, 900, 1_499, 1_500].find((ms) => ms >= pace.neededMs);
    expect(leastOf(paceAfter())).toBe(300);
    expect(leastOf(paceAfter(5))).toBe(300);
    expect(leastOf(paceAfter(450))).toBe(900);
    expect(leastOf(paceAfter(2_900))).toBe(1_500);
  });

  it('considers twice the usual duration a full time, and at least half of the total time', () => {
    const leastOf = (pace: Pace): number | undefined =>
      [1_499, 1_500, 1_999, 2_000, 2_699, 2_700].find((ms) => ms >= pace.fullMs);
    expect(leastOf(paceAfter())).toBe(1_500);
    expect(leastOf(paceAfter(450))).toBe(1_500);
    expect(leastOf(paceAfter(1_000))).toBe(2_000);
    expect(leastOf(paceAfter(2_900))).toBe(2_700);
  });
});
