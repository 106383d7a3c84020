import { describe, expect, it } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from '../../contract/outcome.js';
import type { SessionKeys, SessionKey, TokenKey } from '../../contract/session-identity.js';
import type { CacheSettings } from './cache-entry.js';
import { SessionCache } from './session-cache.js';

const ANN = { username: 'ann' };
const ann = { kind: 'authenticated', user: ANN } as const;
const keys: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token' as SessionKey };
const withIv: SessionKeys = { tokenKey: 'token' as TokenKey, sessionKey: 'token and IV' as SessionKey };

interface Trial {
  readonly memory: SessionCache<object>;
  readonly sleep: (ms: number) => void;
  readonly find: (maxAgeMs?: number) => unknown;
}

function memoryAt(settings: Partial<CacheSettings> = {}): Trial {
  let now = 1_000;
  const limits = { ttlMs: 100, negativeTtlMs: 50, maxEntries: 3, refreshAheadMs: 0, staleIfErrorMs: 0, ...settings };
  const memory = new SessionCache<object>(limits, () => now);
  return { memory, sleep: (ms) => void (now += ms), find: (maxAgeMs = Infinity) => memory.find(keys, maxAgeMs) };
}

describe('an authenticated session', () => {
  it('is cached for its lifetime and no longer', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, ann);
    sleep(99);
    expect(find()).toMatchObject({ kind: 'authenticated', user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('is no older than the limit of the caller', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, ann);
    expect([find(1), find(0)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
    sleep(10);
    expect([find(11), find(10)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
  });

  it('is a different session with another IV', () => {
    const { memory, find } = memoryAt();
    memory.update(withIv, ann);
    expect(find()).toBeUndefined();
    expect(memory.find(withIv, Infinity)).toMatchObject({ user: ANN });
  });

  it.each([
    ['a refusal', UNAUTHENTICATED],
    ['a 403', FORBIDDEN],
  ])('is dropped by %s', (_name, verdict) => {
    const { memory, find } = memoryAt({ negativeTtlMs: 0 });
    memory.update(keys, ann);
    memory.update(keys, verdict);
    expect(find()).toBeUndefined();
  });

  it('is not changed by an outage', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, ann);
    memory.update(keys, unavailable('timeout'));
    expect(find()).toMatchObject({ user: ANN });
  });

  it.each([keys, withIv])('is evicted with its token, with any IV', (under) => {
    const { memory } = memoryAt();
    memory.update(under, ann);
    memory.evict('token' as TokenKey);
    expect(memory.find(under, Infinity)).toBeUndefined();
  });

  it('is evicted, the least recently used first, when there are too many', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, ann);
    for (const name of ['a', 'b', 'c']) {
      memory.update({ tokenKey: name as TokenKey, sessionKey: name as SessionKey }, ann);
      find();
    }
    expect(find()).toMatchObject({ user: ANN });
    expect(memory.find({ tokenKey: 'a' as TokenKey, sessionKey: 'a' as SessionKey }, Infinity)).toBeUndefined();
  });
});

describe('a refusal', () => {
  it('is cached for its own lifetime', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, UNAUTHENTICATED);
    sleep(49);
    expect([find(), find(0)]).toEqual([UNAUTHENTICATED, undefined]);
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never evicts a session, however many refusals there are', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, ann);
    for (let index = 0; index < 1_000; index += 1)
      memory.update({ tokenKey: `t${index}` as TokenKey, sessionKey: `t${index}` as SessionKey }, UNAUTHENTICATED);
    expect(find()).toMatchObject({ user: ANN });
  });

  it.each([keys, withIv])('is evicted by a sign-in that issues the token', (under) => {
    const { memory } = memoryAt();
    memory.update(under, UNAUTHENTICATED);
    memory.clearTombstone('token' as TokenKey);
    expect(memory.find(under, Infinity)).toBeUndefined();
  });

  it('is evicted when the session is authenticated', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, UNAUTHENTICATED);
    memory.update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('stays evicted when the authenticated session expires', () => {
    const { memory, sleep, find } = memoryAt({ ttlMs: 10, negativeTtlMs: 50 });
    memory.update(keys, UNAUTHENTICATED);
    memory.update(keys, ann);
    sleep(20);
    expect(find()).toBeUndefined();
  });

  it('is evicted for later ones when there are too many', () => {
    const { memory, find } = memoryAt({ maxEntries: 1 });
    memory.update(keys, UNAUTHENTICATED);
    memory.update({ tokenKey: 'other' as TokenKey, sessionKey: 'other' as SessionKey }, UNAUTHENTICATED);
    expect(find()).toBeUndefined();
  });

  it('by status 403 is not cached', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, FORBIDDEN);
    expect(find()).toBeUndefined();
  });
});

describe('a token that was signed out', () => {
  it('is not cached for as long as it could have been, whatever the service answers', () => {
    const { memory, sleep, find } = memoryAt({ staleIfErrorMs: 50 });
    memory.revoke('token' as TokenKey);
    sleep(149);
    memory.update(keys, ann);
    expect([find(), memory.findStale(keys)]).toEqual([undefined, undefined]);
    sleep(1);
    memory.update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('is evicted for later ones when there are too many', () => {
    const { memory, find } = memoryAt({ maxEntries: 1 });
    memory.revoke('token' as TokenKey);
    memory.revoke('other' as TokenKey);
    memory.update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });

  it('is cached again once a sign-in has issued it', () => {
    const { memory, find } = memoryAt();
    memory.revoke('token' as TokenKey);
    memory.clearTombstone('token' as TokenKey);
    memory.update(keys, ann);
    expect(find()).toMatchObject({ user: ANN });
  });
});

describe('an expired session', () => {
  it('is served in an outage within staleIfErrorMs, and not later', () => {
    const { memory, sleep } = memoryAt({ staleIfErrorMs: 50 });
    memory.update(keys, ann);
    sleep(149);
    expect(memory.findStale(keys)).toBe(ANN);
    expect(memory.findStale(withIv)).toBeUndefined();
    sleep(1);
    expect(memory.findStale(keys)).toBeUndefined();
  });

  it('is not served in an outage unless staleIfErrorMs is set', () => {
    const { memory } = memoryAt();
    memory.update(keys, ann);
    expect(memory.findStale(keys)).toBeUndefined();
  });
});

describe('a session in use', () => {
  function claims(settings: Partial<CacheSettings>, times: number[]): boolean[] {
    const { memory, sleep, find } = memoryAt(settings);
    memory.update(keys, ann);
    return times.map((ms) => {
      sleep(ms);
      expect(find()).toBeDefined();
      return memory.tryRefresh(keys);
    });
  }

  it('is due for a refresh near its expiry, and again only after a pause', () => {
    expect(claims({ refreshAheadMs: 40 }, [59, 1, 1, 8, 1])).toEqual([false, true, false, false, true]);
  });

  it('is due for a refresh in each of its lifetimes', () => {
    const { memory, sleep } = memoryAt({ refreshAheadMs: 98 });
    memory.update(keys, ann);
    sleep(5);
    expect(memory.tryRefresh(keys)).toBe(true);
    memory.update(keys, ann);
    sleep(5);
    expect(memory.tryRefresh(keys)).toBe(true);
  });

  it('has a refresh pause only for as many sessions as are cached', () => {
    const { memory } = memoryAt({ maxEntries: 1, refreshAheadMs: 100 });
    const claim = (token: string): boolean => memory.tryRefresh({ tokenKey: token as TokenKey, sessionKey: token as SessionKey });
    expect([claim('a'), claim('a'), claim('b'), claim('a')]).toEqual([true, false, true, true]);
  });

  it('is not refreshed unless refreshAheadMs is set', () => {
    expect(claims({}, [99])).toEqual([false]);
  });
});

describe('a session for which the service shortens the lifetime', () => {
  const forTen = { ...ann, cacheForMs: 10 } as const;

  it('expires that much earlier, counted from when the call was sent', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, forTen, 4);
    sleep(5);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never lives longer than its lifetime', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, { ...ann, cacheForMs: 1_000 });
    sleep(99);
    expect(find()).toMatchObject({ user: ANN });
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('is never younger than the service says', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, forTen);
    expect([find(91), find(90)]).toEqual([expect.objectContaining({ user: ANN }), undefined]);
  });

  it('is served in an outage within staleIfErrorMs from then', () => {
    const { memory, sleep, find } = memoryAt({ staleIfErrorMs: 50 });
    memory.update(keys, forTen);
    sleep(59);
    expect([find(), memory.findStale(keys)]).toEqual([undefined, ANN]);
    sleep(1);
    expect(memory.findStale(keys)).toBeUndefined();
  });

  it('is refreshed no earlier than after half of its lifetime, however long refreshAheadMs is', () => {
    const { memory, sleep } = memoryAt({ refreshAheadMs: 40 });
    memory.update(keys, forTen);
    const claims = [4, 1, 1].map((ms) => (sleep(ms), memory.tryRefresh(keys)));
    expect(claims).toEqual([false, true, false]);
    memory.update(keys, { ...ann, cacheForMs: 90 });
    expect([49, 1].map((ms) => (sleep(ms), memory.tryRefresh(keys)))).toEqual([false, true]);
  });

  it('is not cached with 0, and evicts the former entry, also for an outage', () => {
    const { memory, find } = memoryAt({ staleIfErrorMs: 50 });
    memory.update(keys, ann);
    memory.update(keys, { ...ann, cacheForMs: 0 });
    expect([find(), memory.findStale(keys), memory.count(), memory.has('token' as TokenKey)]).toEqual([undefined, undefined, 0, false]);
  });

  it('evicts a former refusal, also with 0', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, UNAUTHENTICATED);
    memory.update(keys, { ...ann, cacheForMs: 0 });
    expect(find()).toBeUndefined();
  });
});

describe('a refusal for which the service shortens the lifetime', () => {
  it('expires that much earlier, counted from when the call was sent', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, { ...UNAUTHENTICATED, cacheForMs: 10 }, 4);
    sleep(5);
    expect(find()).toEqual(UNAUTHENTICATED);
    sleep(1);
    expect(find()).toBeUndefined();
  });

  it('never lives longer than negativeTtlMs', () => {
    const { memory, sleep, find } = memoryAt();
    memory.update(keys, { ...UNAUTHENTICATED, cacheForMs: 1_000 });
    sleep(50);
    expect(find()).toBeUndefined();
  });

  it('is not cached with 0, and evicts the session and the former refusal', () => {
    const { memory, find } = memoryAt();
    memory.update(keys, UNAUTHENTICATED);
    memory.update(keys, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(find()).toBeUndefined();
    memory.update(keys, ann);
    memory.update(keys, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(find()).toBeUndefined();
  });
});
