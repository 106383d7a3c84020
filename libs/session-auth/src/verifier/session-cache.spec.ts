import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { SessionKeys, SessionKey, TokenKey } from '../contract/session-identity.js';
import { type CacheSettings, SessionCache } from './session-cache.js';

const ANN = { username: 'ann' };
const ann = { kind: 'authenticated', user: ANN } as const;
const keys: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token' as SessionKey };
const withIv: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token and IV' as SessionKey };

interface Trial {
  readonly cache: SessionCache<object>;
  /** Caches a verdict whose call was sent `tookMs` milliseconds ago. */
  readonly update: (keys: SessionKeys, verdict: Verdict<object>, tookMs?: number) => void;
  readonly sleep: (ms: number) => void;
  /** Moves the wall clock only. */
  readonly moveWall: (ms: number) => void;
  readonly find: (maxAgeMs?: number) => unknown;
}

afterEach(() => void jest.restoreAllMocks());

function cacheAt(settings: Partial<CacheSettings> = {}): Trial {
  let now = 1_000;
  const limits = {
    ttlMs: 100,
    negativeTtlMs: 50,
    maxEntries: 3,
    refreshAheadMs: 0,
    staleIfErrorMs: 0,
    ...settings,
  };
  let wallMs = 1_700_000_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
  const cache = new SessionCache<object>(limits);
  const moveWall = (ms: number): void => void (wallMs += ms);
  return {
    cache,
    update: (of, verdict, tookMs = 0) => cache.update(of, verdict, now - tookMs),
    sleep: (ms) => {
      now += ms;
      moveWall(ms);
    },
    moveWall,
    find: (maxAgeMs = Infinity) => cache.find(keys, maxAgeMs),
  };
}

describe('an authenticated session', () => {
  it('is cached for its lifetime and no longer', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, ann);
    sleep(99);
    expect(find()).toMatchObject({ kind: 'authenticated', user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('is no older than the limit of the caller', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, ann);
    expect([find(1), find(0)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
    sleep(10);
    expect([find(11), find(10)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
  });

  it('is a different session with another IV', () => {
    const { cache, update, find } = cacheAt();
    update(withIv, ann);
    expect(find()).toBeUndefined();
    expect(cache.find(withIv, Infinity)).toMatchObject({ user: ANN });
  });

  it.each([
    ['a refusal', UNAUTHENTICATED],
    ['a 403', FORBIDDEN],
  ])('is dropped by %s', (_name, verdict) => {
    const { update, find } = cacheAt({ negativeTtlMs: 0 });
    update(keys, ann);
    update(keys, verdict);
    expect(find()).toBeUndefined();
  });

  it('is not changed by an outage', () => {
    const { update, find } = cacheAt();
    update(keys, ann);
    update(keys, unavailable('timeout'));
    expect(find()).toMatchObject({ user: ANN });
  });

  it.each([keys, withIv])('is evicted with its token, with any IV', (under) => {
    const { cache, update } = cacheAt();
    update(under, ann);
    cache.evict('token' as TokenKey);
    expect(cache.find(under, Infinity)).toBeUndefined();
  });

  it('is evicted, the least recently used first, when there are too many', () => {
    const { cache, update, find } = cacheAt();
    update(keys, ann);
    for (const name of ['a', 'b', 'c']) {
      update({ tokenKey: name as TokenKey, sessionKey: name as SessionKey }, ann);
      find();
    }
    expect(find()).toMatchObject({ user: ANN });
    expect(
      cache.find({ tokenKey: 'a' as TokenKey, sessionKey: 'a' as SessionKey }, Infinity),
    ).toBeUndefined();
  });
});

describe('a refusal', () => {
  it('is cached for its own lifetime', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, UNAUTHENTICATED);
    sleep(49);
    expect([find(), find(0)]).toEqual([UNAUTHENTICATED, undefined]);
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never evicts a session, however many refusals there are', () => {
    const { update, find } = cacheAt();
    update(keys, ann);
    for (let index = 0; index < 1_000; index += 1)
      update({ tokenKey: `t${index}` as TokenKey, sessionKey: `t${index}` as SessionKey }, UNAUTHENTICATED);
    expect(find()).toMatchObject({ user: ANN });
  });

  it.each([keys, withIv])('is evicted by a sign-in that issues the token', (under) => {
    const { cache, update } = cacheAt();
    update(under, UNAUTHENTICATED);
    cache.clearTombstone('token' as TokenKey);
    expect(cache.find(under, Infinity)).toBeUndefined();
  });

  it('stays evicted when the authenticated session expires', () => {
    const { update, sleep, find } = cacheAt({ ttlMs: 10, negativeTtlMs: 50 });
    update(keys, UNAUTHENTICATED);
    update(keys, ann);
    sleep(20);
    expect(find()).toBeUndefined();
  });

  it('is evicted for later ones when there are too many', () => {
    const { update, find } = cacheAt({ maxEntries: 1 });
    update(keys, UNAUTHENTICATED);
    update({ tokenKey: 'other' as TokenKey, sessionKey: 'other' as SessionKey }, UNAUTHENTICATED);
    expect(find()).toBeUndefined();
  });

  it('by status 403 is not cached', () => {
    const { update, find } = cacheAt();
    update(keys, FORBIDDEN);
    expect(find()).toBeUndefined();
  });
});

describe('a token that was signed out', () => {
  it('is not cached for as long as it could have been, whatever the service answers', () => {
    const { cache, update, sleep, find } = cacheAt({ staleIfErrorMs: 50 });
    cache.setTombstone('token' as TokenKey);
    sleep(149);
    update(keys, ann);
    expect([find(), cache.findStale(keys)]).toEqual([undefined, undefined]);
    sleep(1);
    update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('is evicted for later ones when there are too many', () => {
    const { cache, update, find } = cacheAt({ maxEntries: 1 });
    cache.setTombstone('token' as TokenKey);
    cache.setTombstone('other' as TokenKey);
    update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('is cached again once a sign-in has issued it', () => {
    const { cache, update, find } = cacheAt();
    cache.setTombstone('token' as TokenKey);
    cache.clearTombstone('token' as TokenKey);
    update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });
});

describe('an expired session', () => {
  it('is served in an outage within staleIfErrorMs, and not later', () => {
    const { cache, update, sleep } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, ann);
    sleep(149);
    expect(cache.findStale(keys)).toBe(ANN);
    expect(cache.findStale(withIv)).toBeUndefined();
    sleep(1);
    expect(cache.findStale(keys)).toBeUndefined();
  });

  it('is not served in an outage unless staleIfErrorMs is set', () => {
    const { cache, update } = cacheAt();
    update(keys, ann);
    expect(cache.findStale(keys)).toBeUndefined();
  });
});

describe('a session in use', () => {
  function refreshes(settings: Partial<CacheSettings>, times: number[]): boolean[] {
    const { cache, update, sleep, find } = cacheAt(settings);
    update(keys, ann);
    return times.map((ms) => {
      sleep(ms);
      expect(find()).toBeDefined();
      return cache.tryRefresh(keys);
    });
  }

  it('is due for a refresh near its expiry, and again only after a pause', () => {
    expect(refreshes({ refreshAheadMs: 40 }, [59, 1, 1, 8, 1])).toEqual([false, true, false, false, true]);
  });

  it('is due no sooner because the store still has its former answer, while another instance refreshes it', () => {
    const { cache, update, sleep } = cacheAt({ refreshAheadMs: 40 });
    update(keys, ann);
    sleep(60);
    expect(cache.tryRefresh(keys)).toBe(true);
    update(keys, { ...ann, confirmedAtMs: 1_000 });
    expect(cache.tryRefresh(keys)).toBe(false);
  });

  it('is due for a refresh in each of its lifetimes', () => {
    const { cache, update, sleep } = cacheAt({ refreshAheadMs: 98 });
    update(keys, ann);
    sleep(5);
    expect(cache.tryRefresh(keys)).toBe(true);
    update(keys, ann);
    sleep(5);
    expect(cache.tryRefresh(keys)).toBe(true);
  });

  it('has a refresh pause only for as many sessions as are cached', () => {
    const { cache } = cacheAt({ maxEntries: 1, refreshAheadMs: 100 });
    const refresh = (token: string): boolean =>
      cache.tryRefresh({ tokenKey: token as TokenKey, sessionKey: token as SessionKey });
    expect([refresh('a'), refresh('a'), refresh('b'), refresh('a')]).toEqual([true, false, true, true]);
  });

  it('is not refreshed unless refreshAheadMs is set, even if it expires meanwhile', () => {
    const { cache, update, sleep } = cacheAt();
    update(keys, ann);
    sleep(100);
    expect([cache.tryRefresh(keys), ...refreshes({}, [99])]).toEqual([false, false]);
  });
});

describe('a session for which the service shortens the lifetime', () => {
  const forTen = { ...ann, cacheForMs: 10 } as const;

  it('expires that much earlier, counted from when the call was sent', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, forTen, 4);
    sleep(5);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never lives longer than its lifetime', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, { ...ann, cacheForMs: 1_000 });
    sleep(99);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('is never younger than the service says', () => {
    const { update, find } = cacheAt();
    update(keys, forTen);
    expect([find(91), find(90)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
  });

  it('is served in an outage within staleIfErrorMs from then', () => {
    const { cache, update, sleep, find } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, forTen);
    sleep(59);
    expect([find(), cache.findStale(keys)]).toEqual([undefined, ANN]);
    sleep(1);
    expect(cache.findStale(keys)).toBeUndefined();
  });

  it('is refreshed no earlier than after half of its lifetime, however long refreshAheadMs is', () => {
    const { cache, update, sleep } = cacheAt({ refreshAheadMs: 40 });
    update(keys, forTen);
    const refreshes = [4, 1, 1].map((ms) => (sleep(ms), cache.tryRefresh(keys)));
    expect(refreshes).toEqual([false, true, false]);
    update(keys, { ...ann, cacheForMs: 90 });
    expect([49, 1].map((ms) => (sleep(ms), cache.tryRefresh(keys)))).toEqual([false, true]);
  });

  it('is not cached with 0, and evicts the former entry, also for an outage', () => {
    const { cache, update, find } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, ann);
    update(keys, { ...ann, cacheForMs: 0 });
    expect([find(), cache.findStale(keys), cache.count(), cache.has('token' as TokenKey)]).toEqual([
      undefined,
      undefined,
      0,
      false,
    ]);
  });

  it('evicts a former refusal, also with 0', () => {
    const { update, find } = cacheAt();
    update(keys, UNAUTHENTICATED);
    update(keys, { ...ann, cacheForMs: 0 });
    expect(find()).toBeUndefined();
  });
});

describe('a refusal for which the service shortens the lifetime', () => {
  it('expires that much earlier, counted from when the call was sent', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, { ...UNAUTHENTICATED, cacheForMs: 10 }, 4);
    sleep(5);
    expect(find()).toEqual(UNAUTHENTICATED);
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never lives longer than negativeTtlMs', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, { ...UNAUTHENTICATED, cacheForMs: 1_000 });
    sleep(50);
    expect(find()).toBeUndefined();
  });

  it('is not cached with 0, and evicts the session and the former refusal', () => {
    const { update, find } = cacheAt();
    update(keys, UNAUTHENTICATED);
    update(keys, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(find()).toBeUndefined();
    update(keys, ann);
    update(keys, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(find()).toBeUndefined();
  });
});

describe('the wall clock', () => {
  const HOUR_MS = 3_600_000;

  it.each([
    ['moves on by an hour', HOUR_MS],
    ['moves on by the lifetime', 100],
    ['is set back by an hour', -HOUR_MS],
    ['is set back by less than the age of the answer will be', -60],
  ])('ends every entry if it %s while the monotonic clock stands', (_what, ms) => {
    const { cache, update, moveWall, sleep, find } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, ann);
    update({ tokenKey: 'other' as TokenKey, sessionKey: 'other' as SessionKey }, UNAUTHENTICATED);
    sleep(30);
    moveWall(ms);
    expect([
      find(),
      cache.find({ tokenKey: 'other' as TokenKey, sessionKey: 'other' as SessionKey }, Infinity),
    ]).toEqual([undefined, undefined]);
    expect(cache.count()).toBe(0);
    if (Math.abs(ms) === HOUR_MS) expect(cache.findStale(keys)).toBeUndefined();
    sleep(1);
    update(keys, ann);
    sleep(99);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('ages an entry by what it moves on, and does not make it younger again', () => {
    const { update, moveWall, sleep, find } = cacheAt();
    update(keys, ann);
    moveWall(60);
    expect([find(61), find(60)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
    moveWall(-60);
    expect(find(60)).toBeUndefined();
    sleep(39);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('counts during the call too, back and on again', () => {
    const { cache, update, moveWall, sleep, find } = cacheAt();
    cache.find(keys, Infinity);
    sleep(10);
    moveWall(100);
    update(keys, ann, 10);
    expect(find()).toBeUndefined();
    moveWall(-HOUR_MS);
    update(keys, ann);
    moveWall(HOUR_MS);
    expect(find()).toBeUndefined();
  });

  it('makes a session due for its refresh', () => {
    const { cache, update, moveWall, find } = cacheAt({ refreshAheadMs: 40 });
    update(keys, ann);
    moveWall(60);
    expect(find()).toMatchObject({ user: ANN });
    expect(cache.tryRefresh(keys)).toBe(true);
  });

  it('never ends a tombstone early: the later of both clocks does', () => {
    const { cache, moveWall, sleep, find } = cacheAt();
    cache.setTombstone(keys.tokenKey);
    moveWall(HOUR_MS);
    find();
    sleep(99);
    expect(cache.hasTombstone(keys.tokenKey)).toBe(true);
    moveWall(-500);
    find();
    sleep(500);
    expect(cache.hasTombstone(keys.tokenKey)).toBe(true);
    sleep(1);
    expect(cache.hasTombstone(keys.tokenKey)).toBe(false);
  });

  it('that is slewed makes no entry expire much earlier, for however long', () => {
    const { update, moveWall, sleep, find } = cacheAt({ ttlMs: 10_000 });
    for (let second = 0; second < 7_200; second += 1) {
      sleep(1_000);
      moveWall(second % 3 === 0 ? -2 : 2);
      find();
    }
    update(keys, ann);
    sleep(9_900);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('does not count within its granularity', () => {
    const { update, moveWall, sleep, find } = cacheAt();
    update(keys, ann);
    moveWall(0.9);
    sleep(99);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('leaves an answer from the future out', () => {
    const { update, find } = cacheAt();
    update(keys, ann, -1);
    expect(find()).toBeUndefined();
  });
});
