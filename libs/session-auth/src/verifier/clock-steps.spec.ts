import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ageMs, ClockSteps } from './clock-steps.js';

const LIFETIME_MS = 1_600;

function clocks() {
  let [nowMs, wallMs] = [0, 1_000_000];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
  const steps = new ClockSteps(LIFETIME_MS);
  const moveWall = (ms: number): void => void (wallMs += ms);
  const sleep = (ms: number): void => {
    nowMs += ms;
    moveWall(ms);
    steps.observe();
  };
  return {
    steps,
    sleep,
    moveWall,
    isYounger: (startMs: number, ageMs: number) => steps.isYounger(startMs, ageMs, nowMs),
  };
}

afterEach(() => void jest.restoreAllMocks());

describe('the steps of the wall clock', () => {
  it('do not include the start of fake timers, whose monotonic clock begins again', () => {
    let nowMs = 8_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const steps = new ClockSteps(LIFETIME_MS);
    nowMs = 0;
    steps.observe();
    expect([steps.hasNone, steps.isYounger(8_000, LIFETIME_MS, nowMs)]).toEqual([true, false]);
  });

  it('are none while both clocks move alike, and are forgotten after a lifetime', () => {
    const { steps, sleep, moveWall } = clocks();
    sleep(10_000);
    expect(steps.hasNone).toBe(true);
    moveWall(50);
    sleep(0);
    expect(steps.hasNone).toBe(false);
    sleep(LIFETIME_MS);
    expect(steps.hasNone).toBe(false);
    sleep(1);
    expect(steps.hasNone).toBe(true);
  });

  it('age what began before them, and not what begins after them', () => {
    const { sleep, moveWall, isYounger } = clocks();
    sleep(10);
    moveWall(500);
    sleep(0);
    sleep(1);
    expect([isYounger(10, 501), isYounger(10, 502)]).toEqual([false, true]);
    expect([isYounger(11, 1), isYounger(12, 1_000)]).toEqual([true, false]);
  });

  it('are not counted if the process was interrupted between reading one clock and the other', () => {
    const wallMs = 5_000;
    const readings = [0, 0, 0, 0, 0.2, 0.2, 0.2];
    let last = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (last = readings.shift() ?? last));
    jest.spyOn(Date, 'now').mockReturnValue(wallMs);
    const steps = new ClockSteps(LIFETIME_MS);
    steps.observe(0, wallMs + 30);
    expect(steps.hasNone).toBe(true);
  });

  it('add up, ahead and back', () => {
    const { steps, sleep, moveWall, isYounger } = clocks();
    for (const ms of [100, -40, 7]) {
      moveWall(ms);
      sleep(1);
    }
    // 3 ms have passed, and 107 ms were skipped.
    expect([isYounger(0, 110), isYounger(0, 111), steps.backMs]).toEqual([false, true, 40]);
  });
});

describe('an age by two clocks', () => {
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['move alike', 40, 40, 40],
    ['differ, and the wall clock is ahead: the host was suspended', 40, 3_600_000, 3_600_000],
    ['differ, and the wall clock is behind, but not before the start', 40, 0, 40],
    ['differ, and the wall clock was set back behind the start', 40, -1, Infinity],
  ])('is the greater one if they %s', (_what, monotonicMs, wallMs, age) => {
    jest.useFakeTimers();
    const [sinceMs, sinceWallMs] = [performance.now(), Date.now()];
    jest.advanceTimersByTime(monotonicMs);
    jest.setSystemTime(sinceWallMs + wallMs);
    expect(ageMs(sinceMs, sinceWallMs)).toBe(age);
  });
});
