import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { UNAUTHENTICATED, type Verdict } from '../contract/outcome.js';
import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { type CacheSettings, SessionCache } from './session-cache.js';

const keysOf = (token: string, iv = ''): SessionKeys => ({
  tokenKey: token as TokenKey,
  sessionKey: (token + iv) as SessionKey,
});
const verdictOn = (username: string): Verdict<object> => ({ kind: 'authenticated', user: { username } });
const [ANN, ANN_WITH_IV, BOB] = [keysOf('ann'), keysOf('ann with IV', 'IV'), keysOf('bob')];

/** A cache with two sessions of ann, one of them with an IV, and one of bob. */
function cacheAt(settings: Partial<CacheSettings> = {}) {
  let now = 1_000;
  const limits = {
    ttlMs: 100,
    negativeTtlMs: 50,
    maxEntries: 5,
    refreshAheadMs: 0,
    staleIfErrorMs: 0,
    ...settings,
  };
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  const cache = new SessionCache<object>(limits);
  const store = (keys: SessionKeys, verdict: Verdict<object>, tookMs = 0): void =>
    cache.update(keys, verdict, now - tookMs);
  store(ANN, verdictOn('ann'));
  store(ANN_WITH_IV, verdictOn('ann'));
  store(BOB, verdictOn('bob'));
  return {
    cache,
    store,
    sleep: (ms: number) => void (now += ms),
    found: () => [ANN, ANN_WITH_IV, BOB].map((keys) => cache.find(keys, Infinity)?.kind === 'authenticated'),
  };
}

afterEach(() => void jest.restoreAllMocks());

describe('the revocation of a user', () => {
  it('ends the sessions of that user, with and without an IV, and of no other user', () => {
    const { cache, sleep, found } = cacheAt();
    sleep(10);
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect([cache.count(), found()]).toEqual([1, [false, false, true]]);
  });

  it('evicts a session when it is read', () => {
    const { cache, found } = cacheAt();
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect(cache.has(ANN.tokenKey)).toBe(true);
    found();
    expect([ANN, ANN_WITH_IV, BOB].map(({ tokenKey }) => cache.has(tokenKey))).toEqual([false, false, true]);
  });

  it('does not end a session that the service confirmed later', () => {
    const { cache, store, sleep, found } = cacheAt();
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    sleep(1);
    store(ANN, verdictOn('ann'));
    expect([cache.count(), found()]).toEqual([2, [true, false, true]]);
  });

  it.each([20, 70, 140])('ends the sessions that are served in an outage, also %d ms after it', (afterMs) => {
    const { cache, sleep } = cacheAt({ staleIfErrorMs: 50 });
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    sleep(afterMs);
    expect([ANN, ANN_WITH_IV].map((keys) => cache.findStale(keys))).toEqual([undefined, undefined]);
    expect(cache.findStale(BOB)).toEqual({ username: 'bob' });
  });

  it('is no longer compared with sessions once none from before it can be served', () => {
    const { cache, sleep } = cacheAt({ staleIfErrorMs: 50 });
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    sleep(151);
    expect([cache.findStale(ANN), cache.has(ANN.tokenKey)]).toEqual([undefined, true]);
  });

  it('does not affect a session that is not cached', () => {
    const { cache } = cacheAt({ staleIfErrorMs: 50 });
    cache.revocations.add({ kind: 'userRevoked', username: 'ann' });
    expect([cache.find(keysOf('other'), Infinity), cache.findStale(keysOf('other'))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('a possible loss of messages', () => {
  it('prevents an answer to an earlier call from being cached, and no later one', () => {
    const { cache, store, sleep } = cacheAt();
    cache.evictAllAuthenticated();
    sleep(10);
    cache.revocations.addMessageLoss();
    store(ANN, verdictOn('ann'), 1);
    store(BOB, verdictOn('bob'), 0);
    expect(cache.count()).toBe(0);
    sleep(1);
    store(ANN, verdictOn('ann'));
    expect(cache.count()).toBe(1);
  });
});

describe('the eviction', () => {
  it('of all sessions leaves none, and is possible with none', () => {
    const { cache, found } = cacheAt();
    cache.evictAllAuthenticated();
    cache.evictAllAuthenticated();
    expect([cache.count(), found()]).toEqual([0, [false, false, false]]);
    const empty = new SessionCache<object>({
      ttlMs: 100,
      negativeTtlMs: 50,
      maxEntries: 5,
      refreshAheadMs: 0,
      staleIfErrorMs: 0,
    });
    empty.evictAllAuthenticated();
    expect([empty.count(), empty.has(ANN.tokenKey)]).toEqual([0, false]);
  });

  it('of a session alone keeps a cached refusal, and the eviction of its token does not', () => {
    const { cache, store } = cacheAt();
    store(ANN, UNAUTHENTICATED);
    cache.evictAuthenticated(BOB.tokenKey);
    cache.evictAuthenticated(ANN.tokenKey);
    expect([cache.find(BOB, Infinity), cache.find(ANN, Infinity)]).toEqual([undefined, UNAUTHENTICATED]);
    cache.evict(ANN.tokenKey);
    expect(cache.find(ANN, Infinity)).toBeUndefined();
  });
});

describe('a refusal', () => {
  it('is cached from its answer on, however long the call took', () => {
    const { cache, store, sleep } = cacheAt();
    store(ANN, UNAUTHENTICATED, 40);
    sleep(49);
    expect(cache.find(ANN, Infinity)).toBe(UNAUTHENTICATED);
  });

  it('that may not be cached takes the place of no other', () => {
    const { cache, store } = cacheAt({ maxEntries: 1 });
    store(ANN, UNAUTHENTICATED);
    store(BOB, { ...UNAUTHENTICATED, cacheForMs: 0 });
    expect(cache.find(ANN, Infinity)).toBe(UNAUTHENTICATED);
  });
});
