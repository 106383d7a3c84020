import { describe, expect, it, jest } from '@jest/globals';
import type { SessionKey, TokenKey } from '../../contract/session-identity.js';
import { SessionCache } from '../cache/session-cache.js';
import { LocalRevoker } from './local-revoker.js';

const TOKEN_KEY = 'token' as TokenKey;
const KEYS = { tokenKey: TOKEN_KEY, sessionKey: 'token' as SessionKey };
const ANN = { username: 'ann' };

function setUp() {
  const cache = new SessionCache<object>({ ttlMs: 60_000, negativeTtlMs: 0, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 });
  const flights = { detach: jest.fn(), closeToJoins: jest.fn() };
  return { cache, flights, revoker: new LocalRevoker({ cache, flights: [flights] }) };
}

describe('a tombstone that a check finds', () => {
  it('revokes the session once', () => {
    const { cache, revoker } = setUp();
    cache.update(KEYS, { kind: 'authenticated', user: ANN }, performance.now());
    revoker.foundTombstone(TOKEN_KEY);
    revoker.foundTombstone(TOKEN_KEY);
    expect([cache.find(KEYS, Infinity), cache.isRevoked(TOKEN_KEY), revoker.count]).toEqual([undefined, true, 1]);
  });

  it('detaches the calls in flight each time: one may have been sent since the session was revoked here', () => {
    const { flights, revoker } = setUp();
    revoker.revoke(TOKEN_KEY);
    revoker.foundTombstone(TOKEN_KEY);
    expect(flights.detach.mock.calls).toEqual([[TOKEN_KEY], [TOKEN_KEY]]);
  });
});

describe('a sign-in that issues a token', () => {
  it('revokes the answers from before the sign-out of that token, which a store may still have', () => {
    const { revoker } = setUp();
    const beforeMs = performance.now();
    revoker.revoke(TOKEN_KEY);
    revoker.signedIn(TOKEN_KEY);
    expect(revoker.isRevoked(ANN, beforeMs, TOKEN_KEY)).toBe(true);
  });

  it('revokes nothing if the token was not signed out here', () => {
    const { revoker } = setUp();
    const beforeMs = performance.now();
    revoker.signedIn(TOKEN_KEY);
    expect(revoker.isRevoked(ANN, beforeMs, TOKEN_KEY)).toBe(false);
  });
});
