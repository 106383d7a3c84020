import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, type Verdict } from '../contract/outcome.js';
import type { SessionKeys, SessionKey, TokenKey } from '../contract/session-identity.js';
import { type CacheSettings, SessionCache } from './session-cache.js';

const ANN = { username: 'ann' };
const ann = { kind: 'authenticated', user: ANN } as const;
const keys: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token' as SessionKey };
const withIv: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token and IV' as SessionKey };

const ivless = (token: string): SessionKeys => ({
  tokenKey: token as TokenKey,
  sessionKey: token as unknown as SessionKey,
});
const OTHER = ivless('other');

afterEach(() => void jest.restoreAllMocks());

function cacheAt(settings: Partial<CacheSettings> = {}) {
  let [now, wallMs] = [1_000, 1_700_000_000_000];
  const limits = { ttlMs: 100, negativeTtlMs: 50, maxEntries: 3, refreshAheadMs: 0, staleIfErrorMs: 0 };
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
  const cache = new SessionCache<object>({ ...limits, ...settings });
  /** Moves the wall clock only. */
  const moveWall = (ms: number): void => void (wallMs += ms);
  return {
    cache,
    /** Caches a verdict whose call was sent `tookMs` milliseconds ago. */
    update: (of: SessionKeys, verdict: Verdict<object>, tookMs = 0) =>
      cache.update(of, verdict, now - tookMs),
    sleep: (ms: number) => {
      now += ms;
      moveWall(ms);
    },
    moveWall,
    find: (maxAgeMs = Infinity) => cache.find(keys, maxAgeMs),
    /** Results a millisecond before a time from now, and then. */
    findAround: (ms: number, find: () => unknown = () => cache.find(keys, Infinity)) =>
      [ms - 1, 1].map((passedMs) => {
        now += passedMs;
        moveWall(passedMs);
        return find();
      }),
  };
}

describe('an answer', () => {
  it.each<[string, Verdict<object>, tookMs: number, leftMs: number]>([
    ['a session, from when its call was sent on', ann, 40, 60],
    ['a refusal, from its answer on', UNAUTHENTICATED, 40, 50],
    ['a session that the service shortens', { ...ann, cacheForMs: 10 }, 4, 6],
    ['a session that the service would lengthen', { ...ann, cacheForMs: 1_000 }, 0, 100],
    ['a refusal that the service shortens', { ...UNAUTHENTICATED, cacheForMs: 10 }, 4, 6],
  ])('is cached for its lifetime and no longer: %s', (_what, verdict, tookMs, leftMs) => {
    const { update, findAround } = cacheAt();
    update(keys, verdict, tookMs);
    expect(findAround(leftMs)).toEqual([verdict.kind === 'authenticated' ? ann : UNAUTHENTICATED, undefined]);
  });
});

describe('an authenticated session', () => {
  it('is a different session with another IV, or without one', () => {
    const other: SessionKeys = { ...withIv, sessionKey: 'token and another IV' as SessionKey };
    for (const [cached, asked] of [
      [withIv, keys],
      [withIv, other],
      [keys, withIv],
    ] as const) {
      const { cache, update } = cacheAt();
      update(cached, ann);
      expect([cache.find(asked, Infinity), cache.find(cached, Infinity)]).toEqual([undefined, ann]);
    }
  });

  it('is no older than the limit of the caller', () => {
    const { update, sleep, find } = cacheAt();
    update(keys, ann);
    expect([find(1), find(0)]).toEqual([ann, undefined]);
    sleep(10);
    expect([find(11), find(10)]).toEqual([ann, undefined]);
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

  it('is evicted, the least recently used first, when there are too many', () => {
    const { cache, update, find } = cacheAt();
    update(keys, ann);
    for (const name of ['a', 'b', 'c']) {
      update(ivless(name), ann);
      find();
    }
    expect([find(), cache.find(ivless('a'), Infinity)]).toEqual([ann, undefined]);
  });
});

describe('a refusal', () => {
  it('is evicted for later ones when there are too many, and never evicts a session [G06]', () => {
    const { cache, update, find } = cacheAt();
    update(keys, ann);
    for (const token of ['a', 'b', 'c', 'd']) update(ivless(token), UNAUTHENTICATED);
    const found = ['a', 'b'].map((token) => cache.find(ivless(token), Infinity));
    expect([find(), ...found]).toEqual([ann, undefined, UNAUTHENTICATED]);
  });

  it('is no answer to a limit of 0', () => {
    const { update, find } = cacheAt();
    update(keys, UNAUTHENTICATED);
    expect([find(), find(0)]).toEqual([UNAUTHENTICATED, undefined]);
  });

  it('is evicted by a sign-in that issues the token, with any IV', () => {
    const { cache, update } = cacheAt();
    update(withIv, UNAUTHENTICATED);
    expect([cache.find(keys, Infinity), cache.find(withIv, Infinity)]).toEqual([undefined, UNAUTHENTICATED]);
    cache.clearTombstone('token' as TokenKey);
    expect(cache.find(withIv, Infinity)).toBeUndefined();
  });

  it('stays evicted when the authenticated session expires', () => {
    const { update, sleep, find } = cacheAt({ ttlMs: 10, negativeTtlMs: 50 });
    update(keys, UNAUTHENTICATED);
    update(keys, ann);
    sleep(20);
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
    expect(find()).toEqual(ann);
  });

  it('is evicted for later ones when there are too many', () => {
    const { cache, update, find } = cacheAt({ maxEntries: 1 });
    cache.setTombstone('token' as TokenKey);
    cache.setTombstone('other' as TokenKey);
    update(keys, ann);
    expect(find()).toEqual(ann);
  });

  it('is cached again once a sign-in has issued it', () => {
    const { cache, update, find } = cacheAt();
    cache.setTombstone('token' as TokenKey);
    cache.clearTombstone('token' as TokenKey);
    update(keys, ann);
    expect(find()).toEqual(ann);
  });
});

describe('an expired session', () => {
  it('is served in an outage within staleIfErrorMs, and not later', () => {
    const { cache, update, findAround } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, ann);
    const found = findAround(150, () => [cache.findStale(keys), cache.findStale(withIv)]);
    expect(found.flat()).toEqual([ANN, undefined, undefined, undefined]);
  });
});

describe('a session in use', () => {
  it('is due for a refresh near its expiry, and again only after a pause', () => {
    const { cache, update, sleep } = cacheAt({ refreshAheadMs: 40 });
    update(keys, ann);
    const due = [59, 1, 1, 8, 1].map((ms) => (sleep(ms), cache.tryRefresh(keys)));
    expect(due).toEqual([false, true, false, false, true]);
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
    const refresh = (token: string): boolean => cache.tryRefresh(ivless(token));
    expect([refresh('a'), refresh('a'), refresh('b'), refresh('a')]).toEqual([true, false, true, true]);
  });
});

describe('a session for which the service shortens the lifetime', () => {
  const forTen = { ...ann, cacheForMs: 10 } as const;

  it('is never younger than the service says', () => {
    const { update, find } = cacheAt();
    update(keys, forTen);
    expect([find(91), find(90)]).toEqual([ann, undefined]);
  });

  it('is served in an outage within staleIfErrorMs from then', () => {
    const { cache, update, findAround } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, forTen);
    expect(findAround(60, () => cache.findStale(keys))).toEqual([ANN, undefined]);
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
    expect([find(), cache.findStale(keys), cache.has(keys.tokenKey)]).toEqual([undefined, undefined, false]);
  });
});

describe('an answer that may not be cached', () => {
  it.each([ann, UNAUTHENTICATED])('evicts the session and the former refusal: $kind', (verdict) => {
    const { update, find } = cacheAt();
    for (const former of [UNAUTHENTICATED, ann]) {
      update(keys, former);
      update(keys, { ...verdict, cacheForMs: 0 });
      expect(find()).toBeUndefined();
    }
  });

  it('takes the place of no other', () => {
    const { update, find } = cacheAt({ maxEntries: 1 });
    update(keys, UNAUTHENTICATED);
    update(OTHER, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(find()).toBe(UNAUTHENTICATED);
  });
});

describe('the wall clock', () => {
  const HOUR_MS = 3_600_000;

  it.each([
    ['moves on by an hour', HOUR_MS],
    ['is set back by an hour', -HOUR_MS],
    ['is set back by less than the age of the answer will be', -60],
  ])('ends every entry if it %s while the monotonic clock stands [P33]', (_what, ms) => {
    const { cache, update, moveWall, sleep, find, findAround } = cacheAt({ staleIfErrorMs: 50 });
    update(keys, ann);
    update(OTHER, UNAUTHENTICATED);
    sleep(30);
    moveWall(ms);
    expect([find(), cache.find(OTHER, Infinity), cache.count()]).toEqual([undefined, undefined, 0]);
    if (Math.abs(ms) === HOUR_MS) expect(cache.findStale(keys)).toBeUndefined();
    sleep(1);
    update(keys, ann);
    expect(findAround(100)).toEqual([ann, undefined]);
  });

  it('ages an entry by what it moves on, and does not make it younger again', () => {
    const { cache, update, moveWall, find, findAround } = cacheAt({ refreshAheadMs: 40 });
    update(keys, ann);
    moveWall(60);
    expect([find(61), find(60), cache.tryRefresh(keys)]).toEqual([ann, undefined, true]);
    moveWall(-60);
    expect(find(60)).toBeUndefined();
    expect(findAround(40)).toEqual([ann, undefined]);
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
    expect(find()).toEqual(ann);
  });

  it('leaves an answer from the future out', () => {
    const { update, find } = cacheAt();
    update(keys, ann, -1);
    expect(find()).toBeUndefined();
  });
});

const [ANN_IV, BOB] = [{ ...withIv, tokenKey: 'with IV' as TokenKey }, ivless('bob')];
const bob = { kind: 'authenticated', user: { username: 'bob' } } as const;

/** A cache with two sessions of ann, one of them with an IV, and one of bob. */
function threeSessions(settings: Partial<CacheSettings> = {}) {
  const trial = cacheAt({ maxEntries: 5, ...settings });
  const found = () =>
    [keys, ANN_IV, BOB].map((of) => trial.cache.find(of, Infinity)?.kind === 'authenticated');
  trial.update(keys, ann);
  trial.update(ANN_IV, ann);
  trial.update(BOB, bob);
  return { ...trial, found };
}

describe('the revocation of a user', () => {
  it('ends the sessions of that user, with and without an IV, and of no other user', () => {
    const { cache, sleep, found } = threeSessions();
    sleep(10);
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect([cache.count(), found()]).toEqual([1, [false, false, true]]);
  });

  it('evicts a session when it is read', () => {
    const { cache, found } = threeSessions();
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect(cache.has(keys.tokenKey)).toBe(true);
    found();
    expect([keys, ANN_IV, BOB].map(({ tokenKey }) => cache.has(tokenKey))).toEqual([false, false, true]);
  });

  it('does not end a session that the service confirmed later', () => {
    const { cache, update, sleep, found } = threeSessions();
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    sleep(1);
    update(keys, ann);
    expect([cache.count(), found()]).toEqual([2, [true, false, true]]);
  });

  it.each([20, 70, 140])('ends the sessions that are served in an outage, also %d ms after it', (afterMs) => {
    const { cache, sleep } = threeSessions({ staleIfErrorMs: 50 });
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    sleep(afterMs);
    expect([keys, ANN_IV].map((keys) => cache.findStale(keys))).toEqual([undefined, undefined]);
    expect(cache.findStale(BOB)).toEqual({ username: 'bob' });
  });
});

describe('a possible loss of messages', () => {
  it('prevents an answer to an earlier call from being cached, and no later one', () => {
    const { cache, update, sleep } = threeSessions();
    cache.evictAllAuthenticated();
    sleep(10);
    cache.revocations.addMessageLoss();
    update(keys, ann, 1);
    update(BOB, bob);
    expect(cache.count()).toBe(0);
    sleep(1);
    update(keys, ann);
    expect(cache.count()).toBe(1);
  });
});

describe('the eviction', () => {
  it('of a session alone keeps a cached refusal, and the eviction of its token does not', () => {
    const { cache, update } = threeSessions();
    update(keys, UNAUTHENTICATED);
    cache.evictAuthenticated(BOB.tokenKey);
    cache.evictAuthenticated(keys.tokenKey);
    expect([cache.find(BOB, Infinity), cache.find(keys, Infinity)]).toEqual([undefined, UNAUTHENTICATED]);
    cache.evict(keys.tokenKey);
    expect(cache.find(keys, Infinity)).toBeUndefined();
  });
});
