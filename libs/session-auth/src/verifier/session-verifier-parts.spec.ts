import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { CHECK_CHANNEL, type CheckMessage } from '../contract/diagnostics.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { SessionCache } from './session-cache.js';
import { Lanes } from './lanes.js';
import { SessionVerifier } from './session-verifier.js';
import type { VerifierParts } from './session-verifier.js';

const session = { token: 'token', authIv: undefined };
const ann = { kind: 'authenticated', user: { username: 'ann' } } as const;
const SETTINGS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const LIMITS = { ttlMs: 60_000, negativeTtlMs: 60_000, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };

/** A verifier whose service answers at once, with what the test says. */
function verifierWith(parts: VerifierParts<object> = {}) {
  const service: { answer: Verdict<object>; calls: number } = { answer: ann, calls: 0 };
  const ask = (): Promise<Verdict<object>> => Promise.resolve(((service.calls += 1), service.answer));
  return {
    service,
    verifier: new SessionVerifier(new Lanes(ask, new Deadlines(), SETTINGS), parts),
  };
}

/** Returns the messages of the checks in `act`. */
async function messagesOf(act: () => Promise<void>): Promise<unknown[]> {
  const messages: unknown[] = [];
  const note = (message: unknown): void => void messages.push(message);
  subscribe(CHECK_CHANNEL, note);
  await act().finally(() => unsubscribe(CHECK_CHANNEL, note));
  return messages;
}

afterEach(() => void jest.restoreAllMocks());

describe('a verifier without a session cache', () => {
  it('makes a call for each check, whatever the former answer was', async () => {
    const { service, verifier } = verifierWith();
    const answers: Verdict<object>[] = [ann, UNAUTHENTICATED, unavailable('busy')];
    for (const answer of answers) {
      service.answer = answer;
      expect(await verifier.verify(session)).toEqual(answer);
    }
    expect([service.calls, verifier.countCached()]).toEqual([answers.length, 0]);
  });

  it('can evict a session and close', async () => {
    const { verifier } = verifierWith();
    await verifier.revoker.evict('token');
    verifier.revoker.signedOut('token');
    verifier.revoker.signedIn('token');
    await verifier.revoker.apply({ kind: 'allRevoked' });
    verifier.revoker.messagesLost();
    expect(await verifier.verify(session)).toEqual(ann);
    await expect(verifier.close()).resolves.toBeUndefined();
  });
});

describe('checks of one session that may not even wait', () => {
  it('are busy, and reported as that', async () => {
    const record = jest.fn();
    const never = (): Promise<Verdict<object>> => new Promise(() => undefined);
    const deadlines = new Deadlines();
    const verifier = new SessionVerifier(new Lanes(never, deadlines, SETTINGS), { status: { record } });
    const checks = Array.from({ length: 2 + 1_024 + 1 }, () => verifier.verify(session, 0));
    expect(record.mock.calls).toEqual([[unavailable('busy', 1), tokenKeyOf('token'), undefined]]);
    expect(await checks.at(-1)).toEqual(unavailable('busy', 1));
    await deadlines.close();
  });
});

describe('a verifier with refresh-ahead', () => {
  it('refreshes neither a refusal nor a session that it has just checked, and counts sessions alone', async () => {
    const cache = new SessionCache<object>({ ...LIMITS, refreshAheadMs: 60_000 });
    const { service, verifier } = verifierWith({ cache });
    service.answer = UNAUTHENTICATED;
    await verifier.verify(session);
    expect([verifier.verify(session), service.calls]).toEqual([UNAUTHENTICATED, 1]);
    service.answer = ann;
    await verifier.verify({ ...session, token: 'another' });
    expect([service.calls, verifier.countCached()]).toEqual([2, 1]);
  });
});

describe('the messages of checks', () => {
  it('are one for each check, and say what comes from the cache, and which joined the call of another', async () => {
    const { verifier } = verifierWith({ cache: new SessionCache<object>(LIMITS) });
    const messages = await messagesOf(async () => {
      await Promise.all([verifier.verify(session), verifier.verify(session), verifier.verify(session, 0)]);
      void verifier.verify(session);
    });
    const joined = messages.slice(0, -1).map((message) => (message as CheckMessage).joined);
    expect(joined.sort()).toEqual([false, false, true]);
    expect(messages[3]).toEqual({
      ...{ outcome: 'authenticated', source: 'cache', joined: false },
      ...{ stale: false, reason: undefined, durationMs: 0 },
    });
  });

  it.each<[string, Verdict<object>, Partial<CheckMessage>]>([
    ['a session of the service', ann, { source: 'service', stale: false, reason: undefined }],
    ['a session of the store', { ...ann, confirmedAtMs: 0 }, { source: 'store', stale: false }],
    ['a stale session', { ...ann, stale: true }, { source: 'cache', stale: true }],
    ['an outage', unavailable('busy'), { source: 'service', stale: false, reason: 'busy' }],
  ])('describe %s, with the time that its caller waited', async (_name, verdict, message) => {
    const { service, verifier } = verifierWith();
    service.answer = verdict;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const messages = await messagesOf(async () => {
      const pending = verifier.verify(session);
      clock.mockReturnValue(1_250);
      expect(await pending).toEqual(verdict);
    });
    const rest = { joined: false, durationMs: 250, reason: undefined };
    expect(messages).toEqual([{ outcome: verdict.kind, ...rest, ...message }]);
  });
});

describe('a listener for refusals', () => {
  it('is called for a refusal and a 403, and for no other answer', async () => {
    const { service, verifier } = verifierWith();
    const reported: string[] = [];
    verifier.revoker.onRefusal((_tokenKey, kind) => reported.push(kind));
    for (const answer of [UNAUTHENTICATED, FORBIDDEN, unavailable('busy'), ann]) {
      service.answer = answer;
      await verifier.verify(session);
      await verifier.callService(session);
    }
    expect(reported).toEqual(['unauthenticated', 'unauthenticated', 'forbidden', 'forbidden']);
  });
});

describe('the check of one request', () => {
  it('serves another limit too if it made its own call, even where sessions may be stale, not if it joined one', async () => {
    const cache = new SessionCache<object>({ ...LIMITS, staleIfErrorMs: 60_000 });
    const { verifier } = verifierWith({ cache });
    const [earlier, joined] = [verifier.check(session, 0), verifier.check(session, 60_000)];
    await earlier.verdict;
    expect(verifier.check(session, 0, earlier)).toBe(earlier);
    expect(verifier.check(session, 0, joined)).not.toBe(joined);
  });

  it('is not used again after a revocation', async () => {
    const { verifier } = verifierWith({ cache: new SessionCache<object>(LIMITS) });
    const earlier = verifier.check(session);
    await earlier.verdict;
    expect(verifier.check(session, undefined, earlier)).toBe(earlier);
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'token' });
    expect(verifier.check(session, undefined, earlier)).not.toBe(earlier);
  });
});

describe('a listener that throws', () => {
  it('changes neither the answer nor what is cached, nor keeps another listener from its news', async () => {
    const fail = (): never => {
      throw new Error('of a listener');
    };
    const failed = jest.fn();
    const cache = new SessionCache<object>(LIMITS);
    const { service, verifier } = verifierWith({ cache, onRevoked: fail, listenerFailed: failed });
    verifier.revoker.onRefusal(fail);
    const refused = jest.fn();
    verifier.revoker.onRefusal(refused);
    await verifier.verify(session);
    service.answer = UNAUTHENTICATED;
    for (let made = 1; made <= 3; made += 1) expect(await verifier.verify(session, 0)).toBe(UNAUTHENTICATED);
    expect([refused.mock.calls.length, failed.mock.calls.length, service.calls]).toEqual([3, 4, 4]);
    expect(verifier.verify(session)).toBe(UNAUTHENTICATED);
    service.answer = ann;
    expect(await verifier.verify(session, 0)).toEqual(ann);
  });
});
