import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { SessionKey, TokenKey } from '../contract/session-identity.js';
import { SingleFlight } from './single-flight.js';

const keys = { sessionKey: 'key' as SessionKey, tokenKey: 'token' as TokenKey };

/** Returns how a check gets its answer. If it starts a flight, that one never ends. */
function accessOf<Value>(flights: SingleFlight<Value>, demand?: { readonly maxAgeMs: number }): string {
  return flights.share(keys, () => new Promise(() => undefined), demand).access;
}

describe('a flight', () => {
  afterEach(() => void jest.useRealTimers());

  function departures() {
    /** Answers that may be cached. */
    const counted: number[] = [];
    const flights = new SingleFlight<number>(-1);
    const landings: ((value: number) => void)[] = [];
    return {
      flights,
      join: (key = 'key', token = 'token', maxAgeMs?: number) =>
        flights.share(
          { sessionKey: key as SessionKey, tokenKey: token as TokenKey },
          async (flight) => {
            const value = await new Promise<number>((resolve) => landings.push(resolve));
            if (flight.isCurrent) counted.push(value);
            return value;
          },
          maxAgeMs === undefined ? {} : { maxAgeMs },
        ).result,
      land: () => landings.forEach((resolve, index) => resolve(index)),
      count: () => landings.length,
      counted,
    };
  }

  it('is not joined after it has settled, also while an earlier one is under way', async () => {
    const { flights, join } = departures();
    void join();
    expect(await flights.share(keys, () => Promise.resolve(7), { maxAgeMs: 0 }).result).toBe(7);
    expect(accessOf(flights)).toBe('starts');
  });

  it('is joined and evicted as before when an earlier one has settled', async () => {
    const { flights, join, land, counted } = departures();
    let settle: (value: number) => void = () => undefined;
    const earlier = flights.share(keys, () => new Promise<number>((resolve) => (settle = resolve))).result;
    const newer = join('key', 'token', 0);
    settle(7);
    expect(await earlier).toBe(7);
    expect(accessOf(flights)).toBe('joins');
    flights.detach('token' as TokenKey);
    land();
    expect([await newer, counted]).toEqual([0, []]);
  });

  it('is not joined, and does not count, once its token is evicted, with any IV', async () => {
    const { flights, join, land, count, counted } = departures();
    const before = [join('key'), join('key with IV'), join('other key', 'other token')];
    flights.detach('token' as TokenKey);
    const after = [join('key'), join('key with IV')];
    land();
    expect(await Promise.all([...before, ...after])).toEqual([0, 1, 2, 3, 4]);
    expect([count(), counted]).toEqual([5, [2, 3, 4]]);
  });

  it('is joined by a check with a limit while it is younger than that', () => {
    jest.useFakeTimers();
    const { join, count } = departures();
    jest.advanceTimersByTime(1000);
    void join();
    jest.advanceTimersByTime(99);
    void join('key', 'token', 100);
    expect(count()).toBe(1);
    jest.advanceTimersByTime(1);
    void join('key', 'token', 100);
    expect(count()).toBe(2);
  });

  it('is one of two at most: later checks wait, and share one that begins after them [P29]', async () => {
    const landings: ((value: number) => void)[] = [];
    const flights = new SingleFlight<number>(-1);
    const accesses: string[] = [];
    const fresh = (): Promise<number> => {
      const work = (): Promise<number> => new Promise((resolve) => landings.push(resolve));
      const { access, result } = flights.share(keys, work, { maxAgeMs: 0 });
      accesses.push(access);
      return result;
    };
    const first = [fresh(), fresh()];
    const later = Array.from({ length: 100 }, fresh);
    expect(accesses).toEqual(['starts', 'starts', ...Array<string>(100).fill('waits')]);
    landings[0]?.(0);
    await first[0];
    await new Promise(setImmediate);
    const last = fresh();
    landings[1]?.(1);
    await first[1];
    await new Promise(setImmediate);
    expect(landings).toHaveLength(4);
    landings[2]?.(2);
    landings[3]?.(3);
    expect([await Promise.all(first), new Set(await Promise.all(later)), await last]).toEqual([
      [0, 1],
      new Set([2]),
      3,
    ]);
    expect(accessOf(flights)).toBe('starts');
  });

  it('lets 1024 checks wait for it at most', async () => {
    const flights = new SingleFlight<number>(-1);
    const accesses = Array.from({ length: 2 + 1_024 }, () => accessOf(flights, { maxAgeMs: 0 }));
    expect(accesses.slice(1)).toEqual(['starts', ...Array<string>(1_024).fill('waits')]);
    const { access, result } = flights.share(keys, () => Promise.resolve(1), { maxAgeMs: 0 });
    expect([access, accessOf(flights)]).toEqual(['full', 'joins']);
    expect(await result).toBe(-1);
  });

  it('that fails leaves the table, and the checks that wait start another', async () => {
    const flights = new SingleFlight<number>(-1);
    const failures: ((error: Error) => void)[] = [];
    const failing = (): Promise<number> =>
      flights.share(keys, () => new Promise((_resolve, reject) => failures.push(reject)), { maxAgeMs: 0 })
        .result;
    const failed = [failing(), failing()].map((flight) =>
      expect(flight).rejects.toThrow('of the application'),
    );
    const next = flights.share(keys, () => Promise.resolve(7), { maxAgeMs: 0 }).result;
    for (const fail of failures) fail(new Error('of the application'));
    await Promise.all(failed);
    expect([await next, accessOf(flights)]).toEqual([7, 'starts']);
  });

  it('is not joined once flights are closed to joins; a later one is, and both count', async () => {
    const { flights, join, land, count, counted } = departures();
    const before = [join('other', 'other'), join()];
    expect(accessOf(flights)).toBe('joins');
    flights.closeToJoins();
    const after = [join(), join()];
    expect(accessOf(flights)).toBe('joins');
    land();
    expect(await Promise.all([...before, ...after])).toEqual([0, 1, 2, 2]);
    expect([count(), counted]).toEqual([3, [0, 2]]);
  });
});
