import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HostClock } from './host-clock.js';

const MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const pass = (ms: number): void => jest.advanceTimersByTime(ms);
const moveWall = (ms: number): void => jest.setSystemTime(Date.now() + ms);

describe('the clock of a host', () => {
  it('is the wall clock, and follows its steps ahead', () => {
    const clock = new HostClock();
    expect(clock.now()).toBe(Date.now());
    pass(5_000);
    moveWall(HOUR_MS);
    expect(clock.now()).toBe(Date.now());
  });

  it('goes on for ten minutes when the wall clock is set back, and then follows it', () => {
    const stepMs = HOUR_MS;
    const clock = new HostClock();
    clock.now();
    pass(2 * MINUTES_MS);
    moveWall(-stepMs);
    const behind = (): number => clock.now() - Date.now();
    expect(behind()).toBe(stepMs);
    pass(MINUTES_MS);
    expect(behind()).toBe(stepMs);
    pass(1);
    expect(behind()).toBe(0);
    pass(MINUTES_MS);
    expect(behind()).toBe(0);
  });

  it('begins the ten minutes again when the wall clock was right in between', () => {
    const clock = new HostClock();
    clock.now();
    moveWall(-10_000);
    clock.now();
    pass(MINUTES_MS);
    moveWall(10_000);
    clock.now();
    moveWall(-10_000);
    pass(MINUTES_MS - 1);
    expect(clock.now() - Date.now()).toBe(10_000);
  });

  it('counts the ten minutes from the step, although the wall clock has whole milliseconds and the other one does not', () => {
    let [nowMs, stepMs] = [1, 0];
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(nowMs) - stepMs);
    const clock = new HostClock();
    clock.now();
    for (nowMs = 1_000.5; nowMs < MINUTES_MS; nowMs += 1_000) clock.now();
    stepMs = 10_000;
    const lastMs = clock.now();
    nowMs += 30_000;
    expect(clock.now()).toBe(lastMs + 30_000);
  });
});
