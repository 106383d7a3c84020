import { describe, expect, it } from '@jest/globals';
import { TtlLruMap } from './ttl-lru-map.js';

function mapWith(lifetimeMs: number, startMs = 0) {
  let now = startMs;
  const map = new TtlLruMap<string, string>({ maxEntries: 2, ttlMs: lifetimeMs }, { now: () => now });
  return { map, sleep: (ms: number) => void (now += ms) };
}

describe('an entry', () => {
  it.each([1, 2, 1_000])('with a lifetime of %i ms exists until then, and not from then on', (lifetimeMs) => {
    const { map, sleep } = mapWith(lifetimeMs);
    map.set('key', 'value');
    sleep(lifetimeMs - 1);
    expect(map.get('key')).toBe('value');
    sleep(1);
    expect([map.get('key'), map.peek('key')]).toEqual([undefined, 'value']);
  });

  it('is counted if it matches, until it expires, even if it has not been evicted', () => {
    const { map, sleep } = mapWith(10);
    expect(map.count()).toBe(0);
    map.set('key', 'value');
    sleep(5);
    map.set('other', 'value');
    expect([map.count(), map.count((key, value) => key + value === 'keyvalue')]).toEqual([2, 1]);
    sleep(5);
    expect([map.count(), map.peek('key')]).toEqual([1, 'value']);
  });

  it('does not live longer for a fraction of a millisecond', () => {
    const { map, sleep } = mapWith(2.9, 7.5);
    map.set('key', 'value');
    sleep(1);
    expect(map.get('key')).toBe('value');
    sleep(1);
    expect(map.get('key')).toBeUndefined();
  });

  it('has the time at which its lifetime began, in whole milliseconds', () => {
    const { map, sleep } = mapWith(10, 7.5);
    map.set('now', 'value');
    map.set('earlier', 'value', 3.9);
    expect([map.startMs('now'), map.startMs('earlier')]).toEqual([7, 3]);
    sleep(100);
    expect([map.startMs('now'), map.startMs('earlier')]).toEqual([7, 3]);
  });
});
