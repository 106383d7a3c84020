import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../../client/deadline.js';
import type { SessionClient } from '../../client/session-client.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../../contract/outcome.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import {
  AccessDeniedError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from '../../exceptions/session-exceptions.js';
import { SessionCache } from '../../verifier/session-cache.js';
import { Lanes } from '../../verifier/lanes.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { SessionAuthService } from './session-auth.service.js';

type Check = 'userDetails' | 'verify';

const USER = { username: 'ann' };
const ANN: Verdict<object> = { kind: 'authenticated', user: USER };
const LIMITS = { ttlMs: 60_000, negativeTtlMs: 60_000, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };
const LANES = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const REASON = new Error('the client has left');

let asked: SessionIdentity[];
let answer: () => Promise<Verdict<object>>;
let ended: string[];
let verifier: SessionVerifier<object>;
let service: SessionAuthService<object>;

beforeEach(() => {
  [asked, ended, answer] = [[], [], () => Promise.resolve(ANN)];
  const ask = (session: SessionIdentity): Promise<Verdict<object>> => (asked.push(session), answer());
  const onUsersRevoked = (username: string | undefined): void => void ended.push(username ?? 'all');
  const deadlines = new Deadlines();
  verifier = new SessionVerifier(new Lanes(ask, deadlines, LANES), {
    cache: new SessionCache<object>(LIMITS),
    onUsersRevoked,
  });
  const settings = { signInTimeoutMs: 1_000, signOutTimeoutMs: 1_000, maxSignIns: 1, maxTokenLength: 5 };
  service = new SessionAuthService({} as SessionClient<object>, verifier, deadlines, settings);
});

describe.each<[Check]>([['userDetails'], ['verify']])('%s()', (check) => {
  it('returns the user of a token, or of a session', async () => {
    expect(await service[check]('token')).toBe(USER);
    expect(await service[check]('token', { authIv: 'iv' })).toBe(USER);
    expect(await service[check]({ token: 'other', authIv: 'iv' })).toBe(USER);
    expect(asked).toEqual([
      { token: 'token', authIv: undefined },
      { token: 'token', authIv: 'iv' },
      { token: 'other', authIv: 'iv' },
    ]);
  });

  it.each<[Verdict<object>, new (...values: never[]) => Error, object]>([
    [UNAUTHENTICATED, SessionRejectedError, { code: 'SESSION_REJECTED' }],
    [FORBIDDEN, AccessDeniedError, { code: 'ACCESS_DENIED' }],
    [
      unavailable('malformed', 7),
      SessionServiceUnavailableError,
      { reason: 'malformed', retryAfterSeconds: 7 },
    ],
  ])('rejects with its own error where the verdict is %j', async (verdict, type, fields) => {
    answer = () => Promise.resolve(verdict);
    for (let time = 0; time < 2; time += 1) {
      const error: unknown = await service[check]('token').catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(fields);
    }
  });

  it('makes no call for what cannot be sent', async () => {
    await expect(service[check]('to ken')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    await expect(service[check]('token', { authIv: '' })).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    expect(asked).toEqual([]);
  });

  it('makes no call for a signal that has aborted, and waits no longer when it aborts', async () => {
    await expect(service[check]('token', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(asked).toEqual([]);
    answer = () => new Promise(() => undefined);
    const controller = new AbortController();
    const pending = service[check]('token', { signal: controller.signal });
    controller.abort(REASON);
    await expect(pending).rejects.toBe(REASON);
    expect(asked).toHaveLength(1);
  });
});

describe('verify()', () => {
  it('uses the session cache, up to the age of the call', async () => {
    await service.verify('token');
    expect([
      await service.verify('token'),
      await service.verify('token', { maxAgeMs: 60_000 }),
      asked.length,
    ]).toEqual([USER, USER, 1]);
    await service.verify('token', { maxAgeMs: 0 });
    expect(asked).toHaveLength(2);
  });

  it('shares the call of other checks', async () => {
    await Promise.all([service.verify('token'), service.verify('token')]);
    expect(asked).toHaveLength(1);
  });

  it('of a cached session is not made for a signal that has aborted', async () => {
    await service.verify('token');
    await expect(service.verify('token', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
  });
});

describe('userDetails()', () => {
  it('makes a call each time', async () => {
    await service.verify('token');
    await Promise.all([service.userDetails('token'), service.userDetails('token')]);
    expect(asked).toHaveLength(3);
  });
});

describe('probe()', () => {
  it('has the verdict of a call in the lane of known sessions', async () => {
    const ask = jest.spyOn(verifier, 'call');
    answer = () => Promise.resolve(FORBIDDEN);
    const session = { token: 'token', authIv: undefined };
    expect(await service.probe(session)).toEqual(FORBIDDEN);
    expect(ask.mock.calls).toEqual([[session, 'known']]);
  });
});

describe('the number of cached sessions', () => {
  it('falls when a session is evicted, and when all end', async () => {
    for (const token of ['a', 'b', 'c']) await service.verify(token);
    expect(service.countCached()).toBe(3);
    await service.forget('a');
    expect(service.countCached()).toBe(2);
    await service.forgetAll();
    expect([service.countCached(), ended]).toEqual([0, ['all']]);
  });
});

describe('forget()', () => {
  it('evicts the session of a token, or of a presented session', async () => {
    for (const session of ['token', { token: 'token', authIv: 'iv' }]) {
      asked = [];
      await service.verify(session);
      await service.forget(session, {});
      await service.verify(session);
      expect(asked).toHaveLength(2);
    }
  });

  it('evicts the session also where it rejects', async () => {
    await service.verify('token');
    await expect(service.forget('token', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    expect(service.countCached()).toBe(0);
    await service.verify('token');
    await expect(service.forget('token', { authIv: 'i v' })).rejects.toMatchObject({
      code: 'SESSION_REJECTED',
    });
    expect(service.countCached()).toBe(0);
  });

  it('rejects a token that cannot be sent', async () => {
    await expect(service.forget('to ken')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
  });

  it('waits for the other instances, unless its signal aborts', async () => {
    jest.spyOn(verifier.revoker, 'evict').mockImplementation(() => new Promise(() => undefined));
    const controller = new AbortController();
    const pending = service.forget('token', { signal: controller.signal });
    controller.abort(REASON);
    await expect(pending).rejects.toBe(REASON);
    jest.restoreAllMocks();
  });
});

describe('forgetUser()', () => {
  it('ends the sessions of the user', async () => {
    await service.verify('token');
    await service.forgetUser('ann');
    await service.verify('token');
    expect([asked.length, ended]).toEqual([2, ['ann']]);
  });

  it.each(['', 'a'.repeat(1_025), undefined as unknown as string])(
    'rejects a name that is not one',
    async (username) => {
      await expect(service.forgetUser(username)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      expect(ended).toEqual([]);
    },
  );
});
