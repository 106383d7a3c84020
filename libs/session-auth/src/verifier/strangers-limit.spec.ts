import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StrangersLimit } from './strangers-limit.js';

let nowMs = 1_000_000;

beforeEach(() => {
  nowMs = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => void jest.restoreAllMocks());

/** A limit that is enforced, for calls that end at the same time, ten seconds after those before. */
function limitOf(maxInFlight = 128) {
  const limit = new StrangersLimit(maxInFlight, 3_000);
  limit.enforce(nowMs);
  const current = (): number => {
    let inFlight = 1;
    while (!limit.isReached(inFlight)) inFlight += 1;
    return inFlight;
  };
  const later = (record: (durationMs: number) => void, durationsMs: number[]): number => {
    nowMs += 10_000;
    limit.enforce(nowMs);
    for (const durationMs of durationsMs) record(durationMs);
    return current();
  };
  return {
    limit,
    current,
    known: (...durationsMs: number[]) =>
      later((durationMs) => limit.recordKnown(durationMs, nowMs), durationsMs),
    strangers: (inFlight: number, ...durationsMs: number[]) =>
      later((durationMs) => limit.record(durationMs, inFlight), durationsMs),
    /** Strangers keep every place of the limit, for so many calls. */
    flood: (calls: number, durationMs: number) =>
      later((each) => limit.record(each, current()), times(calls, durationMs)),
  };
}

const times = (count: number, durationMs: number): number[] => Array<number>(count).fill(durationMs);

describe('the limit of strangers', () => {
  it('starts at 16 calls or an eighth of the places, and never above the places', () => {
    expect([1, 8, 16, 128, 1_000].map((places) => limitOf(places).current())).toEqual([1, 8, 16, 16, 125]);
  });

  it('is enforced only for five minutes after each check of a known session', () => {
    const { limit } = limitOf();
    expect([limit.isReached(15), limit.isReached(16)]).toEqual([false, true]);
    nowMs += 299_999;
    expect(limit.isReached(16)).toBe(true);
    nowMs += 1;
    expect(limit.isReached(16)).toBe(false);
  });

  it('grows by one for each quick call of a stranger while it is reached, up to all places', () => {
    const { flood } = limitOf();
    expect([flood(1, 750), flood(3, 450), flood(400, 450)]).toEqual([17, 20, 128]);
  });

  it('does not grow by strangers that are slow, or that do not reach it', () => {
    expect(limitOf().strangers(16, ...times(50, 751))).toBe(16);
    expect(limitOf().strangers(15, ...times(50, 100))).toBe(16);
  });

  it('grows by known sessions that are not slow while strangers reach it, however slow those are', () => {
    const { strangers, known } = limitOf();
    strangers(16, 2_000);
    expect(known(100, 100)).toBe(17);
  });

  it('falls to half of the strangers in flight when most of ten known sessions are slow', () => {
    const { strangers, known, flood } = limitOf();
    flood(200, 100);
    known(...times(10, 200));
    strangers(40, ...times(10, 2_000));
    expect(known(...times(5, 401), ...times(5, 400))).toBe(128);
    strangers(40, ...times(10, 2_000));
    expect(known(...times(6, 401), ...times(4, 400))).toBe(20);
  });

  it('never falls below a 32nd of the places, so that new users still get in', () => {
    const { strangers, known } = limitOf();
    known(...times(10, 100));
    strangers(1, 2_000);
    expect(known(...times(10, 1_000))).toBe(4);
  });

  it('grows by one for each window of good calls after it has fallen', () => {
    const { known, flood } = limitOf();
    known(...times(10, 100));
    expect(known(...times(10, 1_000))).toBe(8);
    expect([flood(7, 100), flood(2, 100), flood(9, 100)]).toEqual([8, 9, 10]);
  });

  it('does not react to calls below a tenth of the total time', () => {
    const { known, flood } = limitOf();
    known(...times(10, 2));
    expect([known(...times(50, 300)), flood(1, 2)]).toEqual([16, 17]);
  });

  it('does not fall twice for calls that were in flight when it fell', () => {
    const { limit, known, current } = limitOf();
    known(...times(10, 100));
    expect(known(...times(10, 1_000))).toBe(8);
    for (let call = 0; call < 100; call += 1) limit.recordKnown(2_900, nowMs + 2_899);
    expect(current()).toBe(8);
  });

  it('takes the duration at its minimum for the usual one: the service is slower for everyone', () => {
    const { known, flood } = limitOf();
    known(...times(10, 100));
    expect(times(4, 1_000).map((durationMs) => known(...times(10, durationMs)))).toEqual([8, 4, 4, 4]);
    expect(flood(200, 500)).toBe(128);
    expect(known(...times(10, 1_000))).toBe(128);
  });
});
