import { beforeEach, describe, expect, it } from '@jest/globals';
import { FailureCounter } from './failure-counter.js';
import { MonotonicClock } from './monotonic-clock.js';

class HandClock extends MonotonicClock {
  time = 0;

  now(): number {
    return this.time;
  }
}

const MAX = 10;
const WINDOW_MS = 1_000;

describe('FailureCounter', () => {
  let clock: HandClock;
  let counter: FailureCounter;

  beforeEach(() => {
    clock = new HandClock();
    counter = new FailureCounter(MAX, WINDOW_MS, 3, clock);
  });

  const fail = (key: string, times: number): void => {
    for (let time = 0; time < times; time += 1) counter.add(key);
  };

  it('permits attempts again one by one', () => {
    fail('one', MAX);
    expect(counter.waitMs('one')).toBe(WINDOW_MS / MAX);
    clock.time += WINDOW_MS / MAX;
    expect(counter.waitMs('one')).toBe(0);
    counter.add('one');
    expect(counter.waitMs('one')).toBeCloseTo(WINDOW_MS / MAX);
    clock.time += WINDOW_MS;
    fail('one', MAX - 1);
    expect(counter.waitMs('one')).toBe(0);
  });

  it('counts a failure of higher cost as several', () => {
    for (let time = 0; time < 3; time += 1) {
      expect(counter.waitMs('one', MAX / 3)).toBe(0);
      counter.add('one', MAX / 3);
    }
    expect(counter.waitMs('one', MAX / 3)).toBeCloseTo(WINDOW_MS / 3);
  });

  it('evicts the key that failed longest ago when the table is full', () => {
    fail('one', MAX);
    fail('two', MAX);
    fail('three', MAX);
    counter.add('one');
    fail('four', 1);
    expect(counter.size).toBe(3);
    expect(['one', 'two', 'three'].map((key) => counter.waitMs(key) > 0)).toEqual([true, false, true]);
  });
});
