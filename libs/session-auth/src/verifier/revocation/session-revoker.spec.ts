import { describe, expect, it } from '@jest/globals';
import type { Verdict } from '../../contract/outcome.js';
import { sessionKeysOf } from '../../contract/session-identity.js';
import { SessionCache } from '../cache/session-cache.js';
import type { SharedRevocations } from '../shared/shared-revocations.js';
import { RevocationNotifier } from './revocation-notifier.js';
import { SessionRevoker } from './session-revoker.js';

const KEYS = sessionKeysOf({ token: 'token', authIv: undefined });
const { tokenKey: TOKEN_KEY } = KEYS;
const ANN = { username: 'ann' };
const ann: Verdict<object> = { kind: 'authenticated', user: ANN };

type Listener = Parameters<SharedRevocations['subscribe']>[0];

/** A revoker with a cached session; `calls` are its calls to the store. */
function setUp() {
  const calls: unknown[][] = [];
  let listener: Listener | undefined;
  const subscribe = (its: Listener): void => void (listener = its);
  const note = (name: string) => [name, (...given: unknown[]): Promise<void> => Promise.resolve(void calls.push([name, ...given]))];
  const names = ['setTombstone', 'clearTombstone', 'publish', 'evict', 'refused', 'revokeUser', 'revokeAll'];
  const shared = { ...Object.fromEntries(names.map(note)), subscribe } as unknown as SharedRevocations;
  const cache = new SessionCache<object>({ ttlMs: 60_000, negativeTtlMs: 0, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 });
  cache.update(KEYS, ann, performance.now());
  const events: unknown[] = [];
  const notifier = new RevocationNotifier((tokenKey) => events.push(tokenKey));
  const revoker = new SessionRevoker<object>({ cache, notifier, flights: [] }, shared);
  revoker.subscribe();
  if (!listener) throw new Error('It does not subscribe');
  return { calls, cache, events, revoker, elsewhere: listener };
}

describe('a sign-out', () => {
  it('sets the tombstone in the store before and after its call: a sign-in that issues the same token may remove it meanwhile', async () => {
    const { calls, events, revoker } = setUp();
    await revoker.signingOut('token');
    expect(events).toEqual([]);
    revoker.signedIn('token');
    revoker.signedOut('token');
    expect(calls).toEqual([
      ['setTombstone', TOKEN_KEY],
      ['clearTombstone', TOKEN_KEY],
      ['setTombstone', TOKEN_KEY],
      ['publish', { kind: 'signedOut', tokenKey: TOKEN_KEY }],
    ]);
    expect(events).toEqual([TOKEN_KEY]);
  });

  it('takes effect here without a store', async () => {
    const revoker = new SessionRevoker<object>({ flights: [] });
    await Promise.all([revoker.signingOut('token'), revoker.revokeUser('ann'), revoker.revokeAll(), revoker.evict('token')]);
    revoker.subscribe();
    revoker.refused(TOKEN_KEY, 'forbidden');
    revoker.signedIn('token');
    revoker.signedOut('token');
    expect(revoker.count).toBe(5);
  });
});

describe('the revocation of sessions', () => {
  it.each([
    ['of a user', 'revokeUser', ['ann']],
    ['of all users', 'revokeAll', []],
  ] as const)('%s takes effect here and in the store', async (_name, way, given) => {
    const { calls, cache, revoker } = setUp();
    const beforeMs = performance.now();
    expect(revoker.isRevokedSince(ANN, beforeMs)).toBe(false);
    await revoker[way]('ann');
    expect([cache.find(KEYS, Infinity), revoker.isRevokedSince(ANN, beforeMs)]).toEqual([undefined, true]);
    expect(calls).toEqual([[way, ...given]]);
  });

  it('by eviction takes effect here and in the store', async () => {
    const { calls, cache, revoker } = setUp();
    await revoker.evict('token');
    expect([cache.find(KEYS, Infinity), calls]).toEqual([undefined, [['evict', TOKEN_KEY]]]);
  });
});

describe('a message of another instance', () => {
  it.each<[string, (elsewhere: Listener) => void, isNotified: boolean]>([
    ['that a session was signed out', (elsewhere) => elsewhere.signedOut(TOKEN_KEY), true],
    ['that a look-up found a tombstone', (elsewhere) => elsewhere.foundTombstone(TOKEN_KEY), true],
    ['that the service refused a session', (elsewhere) => elsewhere.refused(TOKEN_KEY), true],
    ['that a session was evicted', (elsewhere) => elsewhere.evicted(TOKEN_KEY), false],
    ['that a user was revoked', (elsewhere) => elsewhere.userRevoked('ann'), false],
    ['that all users were revoked', (elsewhere) => elsewhere.allRevoked(), false],
    ['that may be lost', (elsewhere) => elsewhere.messagesLost(), false],
  ])('%s ends the session here: it is notified only if the last column says so', (_name, send, isNotified) => {
    const { calls, cache, events, revoker, elsewhere } = setUp();
    send(elsewhere);
    expect([cache.find(KEYS, Infinity), revoker.count, calls]).toEqual([undefined, 1, []]);
    expect(events).toEqual(isNotified ? [TOKEN_KEY] : []);
  });

  it('lets the store compare its answers with the revocations of this instance', async () => {
    const { elsewhere, revoker } = setUp();
    const beforeMs = performance.now();
    expect(elsewhere.isRevoked(ANN, beforeMs, TOKEN_KEY)).toBe(false);
    await revoker.evict('token');
    expect([elsewhere.isRevoked(ANN, beforeMs, TOKEN_KEY), elsewhere.isRevoked(ANN, performance.now() + 1_000, TOKEN_KEY)]).toEqual([
      true,
      false,
    ]);
  });
});

describe('a refusal by the service', () => {
  it.each([
    ['unauthenticated', true, 'refused', [TOKEN_KEY]],
    ['unauthenticated', false, 'refused', []],
    ['forbidden', true, 'evicted', []],
    ['forbidden', false, 'evicted', []],
  ] as const)('as %s, of a session that was cached here: %s, is published to the store as %s', (kind, isCached, published, notified) => {
    const { calls, cache, elsewhere, events, revoker } = setUp();
    const beforeMs = performance.now();
    if (!isCached) cache.evict(TOKEN_KEY);
    revoker.refused(TOKEN_KEY, kind);
    expect([calls, events]).toEqual([[['refused', TOKEN_KEY, published, isCached]], notified]);
    expect(elsewhere.isRevoked(ANN, beforeMs, TOKEN_KEY)).toBe(isCached);
  });

  it('is reported to each listener until it is removed', () => {
    const { revoker } = setUp();
    const reported: unknown[] = [];
    const remove = revoker.onRefusal((tokenKey, kind) => reported.push(tokenKey, kind));
    revoker.refused(TOKEN_KEY, 'forbidden');
    remove();
    revoker.refused(TOKEN_KEY, 'forbidden');
    expect(reported).toEqual([TOKEN_KEY, 'forbidden']);
  });
});
