import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Verdict } from '../contract/outcome.js';
import { tokenKeyOf, type SessionKey, type TokenKey } from '../contract/session-identity.js';
import { SessionCache } from './session-cache.js';
import { KnownSessions } from './known-sessions.js';
import { SessionRevoker } from './session-revoker.js';

const TOKEN_KEY = tokenKeyOf('token');
const KEYS = { tokenKey: TOKEN_KEY, sessionKey: 'token' as SessionKey };
const ANN = { username: 'ann' };
const ann: Verdict<object> = { kind: 'authenticated', user: ANN };

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

function setUp() {
  const lives = { ttlMs: 60_000, negativeTtlMs: 60_000, refreshAheadMs: 0, staleIfErrorMs: 0 };
  const cache = new SessionCache<object>({ ...lives, maxEntries: 10 });
  const flights = { detach: jest.fn(), closeToJoins: jest.fn() };
  const [events, forgottenUsers]: [TokenKey[], unknown[]] = [[], []];
  const onRevoked = (tokenKey: TokenKey): unknown => events.push(tokenKey);
  const known = new KnownSessions();
  const onUsersRevoked = (username: string | undefined): unknown => forgottenUsers.push(username);
  const revoker = new SessionRevoker({ cache, onRevoked, known, onUsersRevoked, flights });
  return { cache, known, flights, events, forgottenUsers, revoker };
}

describe('a tombstone that a check finds', () => {
  it('revokes the session once', () => {
    const { cache, revoker } = setUp();
    cache.update(KEYS, ann, performance.now());
    revoker.foundTombstone(TOKEN_KEY);
    revoker.foundTombstone(TOKEN_KEY);
    expect([cache.has(TOKEN_KEY), cache.hasTombstone(TOKEN_KEY), revoker.count]).toEqual([false, true, 1]);
  });

  it('detaches the calls in flight each time: one may have been sent since the session was revoked here', () => {
    const { flights, revoker } = setUp();
    revoker.receive({ kind: 'signingOut', tokenKey: TOKEN_KEY });
    revoker.foundTombstone(TOKEN_KEY);
    expect(flights.detach.mock.calls).toEqual([[TOKEN_KEY], [TOKEN_KEY]]);
  });
});

describe('a sign-in that issues a token', () => {
  it('revokes the answers from before it, which a store may still have, if the token was signed out here', () => {
    const { revoker } = setUp();
    let nowMs = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    revoker.receive({ kind: 'signingOut', tokenKey: TOKEN_KEY });
    nowMs = 2_000;
    revoker.signedIn('token');
    const revoked = [500, 1_500, 2_001].map((atMs) => revoker.isRevokedSince(ANN, atMs, TOKEN_KEY));
    expect(revoked).toEqual([true, true, false]);
  });

  it('revokes nothing if the token was not signed out here', () => {
    const { revoker } = setUp();
    const beforeMs = performance.now();
    revoker.signedIn('token');
    expect(revoker.isRevokedSince(ANN, beforeMs, TOKEN_KEY)).toBe(false);
  });
});

describe('each revocation and eviction', () => {
  it('increases the count by one, by which a check recognises that it may be outdated', () => {
    const { revoker } = setUp();
    const acts = [
      () => revoker.receive({ kind: 'evicted', tokenKey: TOKEN_KEY }),
      () => revoker.receive({ kind: 'userRevoked', username: 'ann' }),
      () => revoker.receive({ kind: 'allRevoked' }),
      () => revoker.messagesLost(),
    ];
    expect(acts.map((act) => (act(), revoker.count))).toEqual([1, 2, 3, 4]);
  });
});

describe('a refusal by the service', () => {
  it('that another instance received evicts the session and its answers, and notifies the application', () => {
    const { cache, events, flights, revoker } = setUp();
    const beforeMs = performance.now();
    cache.update(KEYS, ann, beforeMs);
    revoker.receive({ kind: 'refused', tokenKey: TOKEN_KEY });
    expect(revoker.isRevokedSince(ANN, beforeMs, TOKEN_KEY)).toBe(true);
    expect([cache.has(TOKEN_KEY), cache.hasTombstone(TOKEN_KEY), events]).toEqual([
      false,
      false,
      [TOKEN_KEY],
    ]);
    expect(flights.detach.mock.calls).toEqual([[TOKEN_KEY]]);
  });
});

describe('a sign-out on another instance', () => {
  it('revokes the session, which is no longer known, and notifies the application', () => {
    const { cache, events, known, revoker } = setUp();
    cache.update(KEYS, ann, performance.now());
    known.add(TOKEN_KEY);
    revoker.receive({ kind: 'signedOut', tokenKey: TOKEN_KEY });
    expect([cache.has(TOKEN_KEY), cache.hasTombstone(TOKEN_KEY)]).toEqual([false, true]);
    expect([known.find(KEYS).lane, events]).toEqual(['strangers', [TOKEN_KEY]]);
  });

  it('keeps its token out of the cache from its completion on, however long it took', () => {
    jest.useFakeTimers();
    const { cache, revoker } = setUp();
    for (const kind of ['signingOut', 'signedOut'] as const) {
      revoker.receive({ kind, tokenKey: TOKEN_KEY });
      jest.advanceTimersByTime(59_999);
    }
    expect(cache.hasTombstone(TOKEN_KEY)).toBe(true);
  });

  it('is notified after its tombstone was found, and after a sign-in has issued the token again, here or elsewhere', () => {
    const { events, known, revoker } = setUp();
    revoker.foundTombstone(TOKEN_KEY);
    revoker.receive({ kind: 'signedOut', tokenKey: TOKEN_KEY });
    revoker.receive({ kind: 'signedOut', tokenKey: TOKEN_KEY });
    revoker.foundTombstone(TOKEN_KEY);
    revoker.signedIn('token');
    expect(known.find(KEYS).lane).toBe('known');
    revoker.receive({ kind: 'signedOut', tokenKey: TOKEN_KEY });
    expect(events).toEqual(Array(4).fill(TOKEN_KEY));
  });
});

describe('the revocation of many sessions', () => {
  it('of more than 10 000 users evicts every session, and emits each user alone [Q11]', () => {
    const { cache, forgottenUsers, revoker } = setUp();
    const users = Array.from({ length: 10_001 }, (_, index) => `user ${index}`);
    cache.update(KEYS, { kind: 'authenticated', user: { username: 'user 0' } }, performance.now());
    for (const username of users) revoker.receive({ kind: 'userRevoked', username });
    expect([cache.find(KEYS, Infinity), forgottenUsers]).toEqual([undefined, users]);
  });

  it('one by one at their sign-out, of more than the cache has tombstones for, keeps each from what a store still has [Q11]', () => {
    const { revoker } = setUp();
    const confirmedAtMs = performance.now();
    for (let index = 0; index < 20; index += 1)
      revoker.receive({ kind: 'signingOut', tokenKey: `token ${index}` as TokenKey });
    expect(revoker.isRevokedSince(ANN, confirmedAtMs, 'token 0' as TokenKey)).toBe(true);
  });

  it('of all users evicts every session, and closes the calls in flight to joins', () => {
    const { cache, forgottenUsers, flights, revoker } = setUp();
    const beforeMs = performance.now();
    cache.update(KEYS, ann, beforeMs);
    revoker.receive({ kind: 'allRevoked' });
    expect([cache.has(TOKEN_KEY), forgottenUsers]).toEqual([false, [undefined]]);
    expect([flights.closeToJoins.mock.calls.length, revoker.isRevokedSince({}, beforeMs)]).toEqual([1, true]);
  });

  it('is assumed when messages may be lost: every session is evicted, and no answer from before is cached', () => {
    const { cache, forgottenUsers, flights, revoker } = setUp();
    const beforeMs = performance.now();
    cache.update(KEYS, ann, beforeMs);
    revoker.messagesLost();
    cache.update(KEYS, ann, beforeMs);
    expect([cache.has(TOKEN_KEY), forgottenUsers, flights.closeToJoins.mock.calls.length]).toEqual([
      false,
      [],
      1,
    ]);
  });
});

describe('the event of a revoked session', () => {
  const [ANN_KEY, BOB_KEY] = ['ann', 'bob'] as [TokenKey, TokenKey];

  function finding() {
    jest.useFakeTimers();
    const { events, revoker } = setUp();
    const find = (...tokenKeys: TokenKey[]) => tokenKeys.forEach((each) => revoker.foundTombstone(each));
    return { events, revoker, find };
  }

  it('is emitted once a minute, however often its revocation is found', () => {
    const { events, find } = finding();
    find(ANN_KEY, ANN_KEY, BOB_KEY, ANN_KEY);
    expect(events).toEqual([ANN_KEY, BOB_KEY]);
    jest.advanceTimersByTime(59_999);
    find(ANN_KEY);
    expect(events).toEqual([ANN_KEY, BOB_KEY]);
    jest.advanceTimersByTime(1);
    find(ANN_KEY);
    expect(events).toEqual([ANN_KEY, BOB_KEY, ANN_KEY]);
  });

  it('is emitted in any case when a check has begun since, which may have admitted the session', () => {
    const { events, revoker, find } = finding();
    find(ANN_KEY, BOB_KEY);
    revoker.checkBegins(ANN_KEY);
    find(ANN_KEY, BOB_KEY);
    expect(events).toEqual([ANN_KEY, BOB_KEY, ANN_KEY]);
  });
});
