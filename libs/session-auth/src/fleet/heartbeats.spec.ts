import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { SessionStore } from '../contract/session-store.js';
import { Leases } from './leases.js';
import { StoreAccess } from './store-access.js';

const SETTINGS = { leaseMs: 3_000, graceMs: 300 };
const BEAT_MS = 100;

/** The leases of an instance; `beats` are the heartbeats that the store received, with their times. */
function setUp() {
  const beats: [holder: string, ttlMs: number, atMs: number][] = [];
  const startMs = performance.now();
  const keepAlive = (holder: string, ttlMs: number): Promise<void> =>
    Promise.resolve(void beats.push([holder, ttlMs, performance.now() - startMs]));
  const store = { keepAlive } as unknown as SessionStore;
  const access = new StoreAccess(
    { store, secrets: ['a secret'], scope: 'scope', timeoutMs: 50 },
    () => undefined,
  );
  const leases = new Leases(access, SETTINGS);
  return { leases, beats, timesOfBeats: () => beats.map(([, , atMs]) => atMs) };
}

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(60_000);
});
afterEach(() => void jest.useRealTimers());

describe('a lease', () => {
  it('has an id of its own, and the holder and lifetimes of its instance', () => {
    const { leases } = setUp();
    const [one, other, lock] = [leases.create(), leases.create(), leases.createLock(700)];
    expect([one, other]).toMatchObject([
      { ttlMs: 3_000, graceMs: 300 },
      { ttlMs: 3_000, graceMs: 300 },
    ]);
    expect(lock).toMatchObject({ ttlMs: 700, graceMs: 700 });
    expect(new Set([one, other, lock].map(({ id }) => id)).size).toBe(3);
    expect(new Set([one, other, lock].map(({ holder }) => holder)).size).toBe(1);
    for (const { id, holder } of [one, other, lock]) {
      expect(id).toMatch(/^[\w.-]+$/);
      expect(holder).toMatch(/^[\w-]{12}$/);
    }
    expect(setUp().leases.create().holder).not.toBe(one.holder);
  });
});

describe('the heartbeats of an instance', () => {
  it('are sent three times in a grace period while it holds a lease', () => {
    const { leases, beats, timesOfBeats } = setUp();
    const { id, holder } = leases.create();
    leases.hold(id);
    jest.advanceTimersByTime(3 * BEAT_MS);
    expect(beats).toEqual([
      [holder, 300, BEAT_MS],
      [holder, 300, 2 * BEAT_MS],
      [holder, 300, 3 * BEAT_MS],
    ]);
    leases.end(id);
    jest.advanceTimersByTime(10 * BEAT_MS);
    expect([timesOfBeats().length, jest.getTimerCount()]).toEqual([3, 0]);
  });

  it('are not sent for leases younger than half an interval: most calls end sooner', () => {
    const { leases, timesOfBeats } = setUp();
    leases.hold('first');
    jest.advanceTimersByTime(51);
    leases.end('first');
    leases.hold('second');
    jest.advanceTimersByTime(BEAT_MS);
    expect(timesOfBeats()).toEqual([]);
    jest.advanceTimersByTime(BEAT_MS);
    expect(timesOfBeats()).toEqual([2 * BEAT_MS]);
  });

  it('are sent for a lease of half an interval', () => {
    const { leases, timesOfBeats } = setUp();
    leases.hold('first');
    jest.advanceTimersByTime(50);
    leases.end('first');
    leases.hold('second');
    jest.advanceTimersByTime(50);
    expect(timesOfBeats()).toEqual([BEAT_MS]);
  });

  it('are sent for the oldest lease', () => {
    const { leases, timesOfBeats } = setUp();
    leases.hold('first');
    jest.advanceTimersByTime(90);
    leases.hold('second');
    jest.advanceTimersByTime(10);
    expect(timesOfBeats()).toEqual([BEAT_MS]);
  });

  it('begin again after a pause without a lease', () => {
    const { leases, timesOfBeats } = setUp();
    leases.hold('first');
    leases.end('first');
    jest.advanceTimersByTime(1_000);
    leases.hold('second');
    jest.advanceTimersByTime(BEAT_MS);
    expect(timesOfBeats()).toEqual([1_000 + BEAT_MS]);
  });

  it('end when the instance closes', () => {
    const { leases, timesOfBeats } = setUp();
    leases.hold('first');
    leases.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(1_000);
    expect(timesOfBeats()).toEqual([]);
  });
});
