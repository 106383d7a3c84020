import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { SessionCache } from '../verifier/session-cache.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { verifyForSocket } from './handshake-checks.js';

const ANN: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } };
const BOB: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'bob' } };
const SESSION = { token: 'token', authIv: undefined };
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const CACHE = { ttlMs: 100, negativeTtlMs: 100, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };

let nowMs: number;
let calls: ((verdict: Verdict<UserRecord>) => void)[];
let verifier: SessionVerifier<UserRecord>;

/** Answers the newest call, a millisecond later. */
const answer = async (verdict: Verdict<UserRecord>): Promise<void> => {
  nowMs += 1;
  calls.at(-1)?.(verdict);
  await new Promise(setImmediate);
};

beforeEach(() => {
  [nowMs, calls] = [1_000, []];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
  verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS), {
    cache: new SessionCache<UserRecord>(CACHE),
  });
});
afterEach(() => void jest.restoreAllMocks());

describe('the check of a socket', () => {
  it('of a cached session returns no promise', async () => {
    const first = verifyForSocket(verifier, SESSION);
    await answer(ANN);
    await first;
    expect(verifyForSocket(verifier, SESSION)).toEqual(ANN);
  });

  it('is made once if no session was revoked meanwhile, or only those of another user, or those of its user before', async () => {
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    nowMs += 1;
    const check = verifyForSocket(verifier, SESSION);
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'bob' });
    await answer(ANN);
    expect([await check, calls.length]).toEqual([ANN, 1]);
  });

  it.each<[string, () => Promise<void>]>([
    ['the sessions of its user were', () => verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' })],
    ['all sessions were', () => verifier.revoker.apply({ kind: 'allRevoked' })],
  ])('is repeated if %s revoked meanwhile, and its second verdict counts', async (_which, revoke) => {
    for (const verdict of [UNAUTHENTICATED, BOB]) {
      const check = verifyForSocket(verifier, SESSION);
      await revoke();
      await answer(ANN);
      const made = calls.length;
      await answer(verdict);
      expect([await check, calls.length]).toEqual([verdict, made]);
      nowMs += CACHE.ttlMs;
    }
    expect(calls).toHaveLength(4);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN, unavailable('server_error')])(
    'is not repeated after a denial: $kind',
    async (verdict) => {
      const check = verifyForSocket(verifier, SESSION);
      await verifier.revoker.apply({ kind: 'allRevoked' });
      await answer(verdict);
      expect([await check, calls.length]).toEqual([verdict, 1]);
    },
  );

  it('is made three times at most, and its verdict is then unavailable', async () => {
    const check = verifyForSocket(verifier, SESSION);
    for (let index = 0; index < 3; index += 1) {
      await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
      await answer(ANN);
    }
    expect(calls).toHaveLength(3);
    expect(await check).toEqual(unavailable('busy'));
  });

  it('accepts the third verdict, if only the first two were revoked', async () => {
    const check = verifyForSocket(verifier, SESSION);
    for (let index = 0; index < 2; index += 1) {
      await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
      await answer(ANN);
    }
    await answer(ANN);
    expect([await check, calls.length]).toEqual([ANN, 3]);
  });
});
