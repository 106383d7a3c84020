import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, Deadlines } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { KnownSessions } from './known-sessions.js';
import { Lanes } from './lanes.js';
import { type CacheSettings, SessionCache } from './session-cache.js';
import { SessionVerifier } from './session-verifier.js';

const session = { token: 'token', authIv: undefined };
const ANN = { username: 'ann' };
const ann: Verdict<object> = { kind: 'authenticated', user: ANN };
const down = unavailable('server_error');

afterEach(() => void jest.restoreAllMocks());

/** A verifier whose service answers when the test says so. */
function verifierWith(settings: Partial<CacheSettings> = {}) {
  let now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  const pending: ((verdict: Verdict<object>) => void)[] = [];
  const ask = (): Promise<Verdict<object>> => new Promise((resolve) => pending.push(resolve));
  const protection = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
  const limits = { ttlMs: 100, negativeTtlMs: 100, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };
  const cache = new SessionCache<object>({ ...limits, ...settings });
  const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), protection), { cache });
  return {
    verifier,
    verify: (maxAgeMs?: number) => verifier.verify(session, maxAgeMs),
    sleep: (ms: number) => void (now += ms),
    calls: () => pending.length,
    answer: async (verdict: Verdict<object>, call = pending.length - 1) => {
      pending[call]?.(verdict);
      await new Promise(setImmediate);
    },
  };
}

describe('a check with a session cache', () => {
  it.each([ann, UNAUTHENTICATED])('returns no promise once the answer is cached: $kind', async (verdict) => {
    const { verify, answer, calls } = verifierWith();
    void verify();
    await answer(verdict);
    expect([verify(), calls()]).toEqual([verdict, 1]);
  });

  it('makes a new call for a limit of 0, even if a call is in flight', async () => {
    const { verify, answer, calls } = verifierWith();
    const [older, newer] = [verify(), verify(0)];
    await answer(UNAUTHENTICATED, 1);
    await answer(ann, 0);
    expect([await older, await newer, verify(), calls()]).toEqual([ann, UNAUTHENTICATED, UNAUTHENTICATED, 2]);
  });

  it('starts the lifetime of a session when the call is sent', async () => {
    const { verify, answer, calls, sleep } = verifierWith({ ttlMs: 60_000 });
    const slow = verify();
    sleep(1_000);
    await answer(ann);
    await slow;
    sleep(58_999);
    expect([verify(), calls()]).toMatchObject([ann, 1]);
    sleep(1);
    expect(verify()).toBeInstanceOf(Promise);
  });
});

describe('another check of the same request', () => {
  async function checked(settings: Partial<CacheSettings> = {}, cached = false) {
    const trial = verifierWith(settings);
    if (cached) {
      void trial.verify();
      await trial.answer(ann);
    }
    const earlier = trial.verifier.check(session);
    if (!cached) await trial.answer(ann);
    return { ...trial, earlier };
  }

  it.each([
    ['without a limit', {}, true, undefined, true],
    ['with a limit, where it caused the call itself', {}, false, 0, true],
    ['with a limit, where it was answered by the cache', {}, true, 0, false],
    ['with a limit, where its answer may be stale', { staleIfErrorMs: 100 }, false, 0, false],
  ])('reuses that one %s: see the last column', async (_case, settings, cached, maxAgeMs, reused) => {
    const { verifier, earlier } = await checked(settings, cached);
    expect(verifier.check(session, maxAgeMs, earlier) === earlier).toBe(reused);
  });

  it('reuses the first check for at most ten seconds: a request may last as long as a stream', async () => {
    const { verifier, sleep, earlier } = await checked();
    const reusedAfter = (ms: number) => (sleep(ms), verifier.check(session, undefined, earlier) === earlier);
    expect([9_999, 1].map(reusedAfter)).toEqual([true, false]);
  });

  it.each([
    ['the token', { token: 'other', authIv: undefined }],
    ['the IV', { token: 'token', authIv: 'iv' }],
  ])('does not reuse it for another session: %s differs', async (_part, other) => {
    const { verifier, earlier } = await checked();
    expect(verifier.check(other, undefined, earlier).session).toBe(other);
  });

  it('does not reuse the check of another verifier', async () => {
    const [{ earlier }, { verifier }] = [await checked(), verifierWith()];
    expect(verifier.check(session, undefined, earlier).verifier).toBe(verifier);
  });
});

describe('a call in flight', () => {
  it.each(['evict', 'signedOut'] as const)('does not restore a session after %s', async (end) => {
    const { verifier, verify, answer, calls } = verifierWith();
    const before = verify();
    void verifier.revoker[end]('token');
    await answer(ann);
    expect(await before).toEqual(ann);
    const after = verify();
    expect(after).toBeInstanceOf(Promise);
    expect(calls()).toBe(2);
    await answer(UNAUTHENTICATED);
    expect(await after).toEqual(UNAUTHENTICATED);
  });

  it('that was sent before a sign-in does not refuse its token', async () => {
    const { verifier, verify, answer } = verifierWith();
    void verify();
    verifier.revoker.signedIn('token');
    await answer(UNAUTHENTICATED);
    const after = verify();
    await answer(ann);
    expect(await after).toEqual(ann);
  });
});

describe('fresh checks of one session [P29]', () => {
  it('are at most two calls at once, and a check that waits gets an answer that was sent after it began', async () => {
    const { verify, answer, calls } = verifierWith();
    const cleared = jest.spyOn(Deadline.prototype, 'clear');
    const [older, newer] = [verify(), verify(0)];
    const waiting = [verify(0), verify(0), verify(0)];
    expect(calls()).toBe(2);
    await answer(ann, 0);
    await answer(ann, 1);
    expect([await older, await newer, calls()]).toEqual([ann, ann, 3]);
    await answer(UNAUTHENTICATED, 2);
    for (const check of waiting) expect(await check).toEqual(UNAUTHENTICATED);
    expect([verify(), calls(), cleared.mock.calls.length]).toEqual([UNAUTHENTICATED, 3, 6]);
  });

  it('time out while they wait for a call that does not begin', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    const { verify, calls } = verifierWith();
    void verify(0);
    void verify(0);
    const waiting = verify(0);
    jest.advanceTimersByTime(60_000);
    expect([await waiting, calls()]).toEqual([unavailable('timeout'), 2]);
    jest.useRealTimers();
  });
});

describe('refresh-ahead', () => {
  it('refreshes a session in use in the background, without delaying a check', async () => {
    const { verify, answer, calls, sleep } = verifierWith({ refreshAheadMs: 50 });
    void verify();
    await answer(ann);
    sleep(60);
    expect([verify(), verify(), calls()]).toMatchObject([ann, ann, 2]);
    await answer({ kind: 'authenticated', user: { username: 'ann, renewed' } });
    sleep(60);
    expect(verify()).toMatchObject({ user: { username: 'ann, renewed' } });
  });
});

describe('stale-if-error', () => {
  async function withExpiredSession(settings: Partial<CacheSettings>) {
    const trial = verifierWith(settings);
    void trial.verify();
    await trial.answer(ann);
    trial.sleep(120);
    return trial;
  }

  it('serves a session that was authenticated before, marked as stale', async () => {
    const { verify, answer } = await withExpiredSession({ staleIfErrorMs: 50 });
    const check = verify();
    await answer(down);
    expect(await check).toEqual({ ...ann, stale: true });
    const later = verify();
    await answer(ann);
    expect(await later).toStrictEqual(ann);
  });

  it.each(['fresh', 'after a sign-out', 'after forget'])('serves nothing %s', async (how) => {
    const { verifier, verify, answer } = await withExpiredSession({ staleIfErrorMs: 50 });
    if (how === 'after a sign-out') verifier.revoker.signedOut('token');
    if (how === 'after forget') await verifier.revoker.evict('token');
    const check = verify(how === 'fresh' ? 0 : undefined);
    await answer(down);
    expect(await check).toEqual(down);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN])('serves nothing after a refusal: $kind', async (refusal) => {
    const { verify, answer, sleep } = await withExpiredSession({ staleIfErrorMs: 500, negativeTtlMs: 1 });
    void verify();
    await answer(refusal);
    sleep(2);
    const check = verify();
    await answer(down);
    expect(await check).toEqual(down);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN])(
    'serves nothing after a refusal of a check that is replaced: $kind',
    async (refusal) => {
      const { verify, answer } = await withExpiredSession({ staleIfErrorMs: 500 });
      void verify();
      void verify(0);
      await answer(refusal, 1);
      await answer(down, 2);
      const check = verify();
      await answer(down);
      expect(await check).toEqual(down);
    },
  );
});

describe('a call that joins no flight', () => {
  it.each<[string, Verdict<object>, isCached: boolean]>([
    ['a refusal', UNAUTHENTICATED, false],
    ['a 403', FORBIDDEN, false],
    ['an outage', down, true],
    ['a confirmation', ann, true],
  ])(
    'keeps the cached session after %s only if the last column is true',
    async (_name, verdict, isCached) => {
      const { verifier, verify, answer, calls } = verifierWith();
      void verify();
      await answer(ann);
      const asked = verifier.callService(session);
      await answer(verdict);
      expect([await asked, calls()]).toEqual([verdict, 2]);
      expect(verify() instanceof Promise).toBe(!isCached);
    },
  );
});

describe('an answer from before a revocation', () => {
  it('is not cached, even if 10,000 other users are forgotten before it arrives [Q11]', async () => {
    const { verifier, verify, answer, calls } = verifierWith();
    const first = verify();
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    for (let user = 0; user < 10_000; user += 1)
      await verifier.revoker.apply({ kind: 'userRevoked', username: `user ${user}` });
    await answer(ann);
    expect(await first).toEqual(ann);

    void verify();
    expect(calls()).toBe(2);
  });

  it('is not cached, even when the process is busy after the answer', async () => {
    const { verifier, verify, answer, sleep, calls } = verifierWith();
    const busy = jest.spyOn(KnownSessions.prototype, 'update').mockImplementation(() => sleep(20));
    const first = verify();
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    await answer(ann);
    await first;
    busy.mockRestore();

    void verify();
    expect(calls()).toBe(2);
  });
});
