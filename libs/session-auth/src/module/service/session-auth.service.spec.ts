import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SILENT } from '../../../../../test/support/service-requests.js';
import { Deadlines } from '../../client/deadline.js';
import type { Answer, Reply } from '../../client/reply.js';
import type { ServiceRequest } from '../../client/connection.js';
import { SessionClient } from '../../client/session-client.js';
import { unavailable } from '../../contract/outcome.js';
import {
  AccessDeniedError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from '../../exceptions/session-exceptions.js';
import { SessionCache } from '../../verifier/session-cache.js';
import { Lanes } from '../../verifier/lanes.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { SessionAuthService } from './session-auth.service.js';

const USER = { username: 'ann', auth_token: 'token' };
const CREDENTIALS = { username: 'ann', password: 'secret' };
const LIMITS = { ttlMs: 60_000, negativeTtlMs: 60_000, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };
const [SIGN_IN_MS, SIGN_OUT_MS] = [2_000, 1_000];
const reply = (status: number, headers = {}): Reply => ({
  status,
  headers,
  body: Buffer.from(JSON.stringify(USER)),
});
const silence = ({ deadline }: ServiceRequest): Promise<Answer> =>
  new Promise((resolve) => deadline.onEnd((end) => resolve(unavailable(end))));

let requests: ServiceRequest[];
let answer: (request: ServiceRequest) => Promise<Answer>;
let ended: string[];
let verifier: SessionVerifier<object>;
let service: SessionAuthService<object>;

const answers = (given: Reply): void => void (answer = () => Promise.resolve(given));
const methods = (): string[] => requests.map(({ method }) => method);
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => error,
  );
const REASON = new Error('the client has left');
const aborted = AbortSignal.abort(REASON);

function start(): void {
  const send = (request: ServiceRequest): Promise<Answer> => (requests.push(request), answer(request));
  const address = { baseUrl: 'http://service', apiKey: 'key', http: { maxTokenLength: 5 } };
  const verdicts = { statusMap: {}, tokenEcho: 'ignore' } as const;
  const client = new SessionClient<object>(
    { send, renew: () => undefined },
    { ...address, ...verdicts },
    (json) => json,
    SILENT,
  );
  const deadlines = new Deadlines();
  const lanes = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
  const check = new Lanes((session, deadline) => client.userDetails(session, deadline), deadlines, lanes);
  const onUsersRevoked = (username: string | undefined): void => void ended.push(username ?? 'all');
  verifier = new SessionVerifier(check, { cache: new SessionCache<object>(LIMITS), onUsersRevoked });
  const settings = {
    signInTimeoutMs: SIGN_IN_MS,
    signOutTimeoutMs: SIGN_OUT_MS,
    maxSignIns: 1,
    http: { maxTokenLength: 5 },
  };
  service = new SessionAuthService(client, verifier, deadlines, settings);
}

beforeEach(() => {
  [requests, ended] = [[], []];
  answers(reply(200));
  start();
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const signIn = (more: object = {}): Promise<unknown> => service.signIn(CREDENTIALS, more);

describe('signIn()', () => {
  it('returns the user and the token, whose session is a known one from then on', async () => {
    expect(verifier.revoker.count).toBe(0);
    const signedIn = jest.spyOn(verifier.revoker, 'signedIn');
    expect(await signIn({ authIv: 'iv' })).toEqual({ kind: 'signed-in', user: USER, token: 'token' });
    expect(requests).toMatchObject([{ method: 'POST', body: JSON.stringify(CREDENTIALS) }]);
    expect(requests[0]?.headers).toEqual(expect.objectContaining({ 'X-AUTH-IV': 'iv' }));
    expect(signedIn.mock.calls).toEqual([['token', USER]]);
  });

  it('that is accepted only issues no session', async () => {
    const signedIn = jest.spyOn(verifier.revoker, 'signedIn');
    answers(reply(202));
    expect(await signIn()).toEqual({ kind: 'accepted' });
    expect(signedIn).not.toHaveBeenCalled();
  });

  it('rejects what cannot be sent, without a call, and a refusal with its error', async () => {
    await expect(signIn({ authIv: 'i v' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(requests).toEqual([]);
    answers(reply(401));
    await expect(signIn()).rejects.toMatchObject({ code: 'CREDENTIALS_REJECTED' });
  });

  it('is limited in number, and takes its time at most', async () => {
    jest.useFakeTimers();
    answer = silence;
    const first = errorOf(signIn());
    await expect(signIn()).rejects.toMatchObject({ reason: 'busy', retryAfterSeconds: 1 });
    await jest.advanceTimersByTimeAsync(SIGN_IN_MS - 1);
    answers(reply(200));
    await expect(signIn()).rejects.toMatchObject({ reason: 'busy' });
    await jest.advanceTimersByTimeAsync(1);
    expect(await first).toMatchObject({ reason: 'timeout' });
    expect([await signIn(), jest.getTimerCount()]).toMatchObject([{ kind: 'signed-in' }, 0]);
  });

  it('ends when its signal aborts, and leaves nothing at a signal that does not', async () => {
    answer = silence;
    const [left, stayed] = [new AbortController(), new AbortController()];
    const first = errorOf(signIn({ signal: left.signal }));
    await new Promise(setImmediate);
    left.abort(REASON);
    expect([await first, requests[0]?.deadline.ended]).toEqual([REASON, 'timeout']);
    answers(reply(200));
    expect(await signIn({ signal: stayed.signal })).toMatchObject({ kind: 'signed-in' });
    expect(getEventListeners(stayed.signal, 'abort')).toEqual([]);
  });

  it('is not made for a signal that has aborted', async () => {
    await expect(signIn({ signal: aborted })).rejects.toThrow('the client has left');
    expect(requests).toEqual([]);
  });
});

describe('signOut()', () => {
  it('ends the session here at once, and again after the reply', async () => {
    await service.verify('token');
    const ends = ['signingOut', 'signedOut'] as const;
    const calls = ends.map((end) => jest.spyOn(verifier.revoker, end));
    const pending = service.signOut('token', { authIv: 'iv' });
    expect([service.countCached(), calls.map(({ mock }) => mock.calls)]).toEqual([0, [[['token']], []]]);
    await pending;
    expect(calls.map(({ mock }) => mock.calls)).toEqual([[['token']], [['token']]]);
    expect(requests[1]).toMatchObject({ method: 'DELETE' });
    expect(requests[1]?.headers).toEqual(
      expect.objectContaining({ 'X-AUTH-TOKEN': 'token', 'X-AUTH-IV': 'iv' }),
    );
  });

  it('ends the session here whatever the service answers', async () => {
    const signedOut = jest.spyOn(verifier.revoker, 'signedOut');
    answers(reply(500));
    await expect(service.signOut('token')).rejects.toMatchObject({ reason: 'server_error' });
    await expect(service.signOut('token', { authIv: 'i v' })).rejects.toMatchObject({
      code: 'SESSION_REJECTED',
    });
    await expect(service.signOut('token', { signal: aborted })).rejects.toThrow('the client has left');
    expect([signedOut.mock.calls, methods()]).toEqual([[['token'], ['token'], ['token']], ['DELETE']]);
  });

  it('is limited in number apart from sign-ins, and takes its time at most', async () => {
    jest.useFakeTimers();
    answer = silence;
    const pending = [errorOf(signIn()), errorOf(service.signOut('token'))];
    await jest.advanceTimersByTimeAsync(0);
    await expect(service.signOut('other')).rejects.toMatchObject({ reason: 'busy' });
    expect(methods()).toEqual(['POST', 'DELETE']);
    await jest.advanceTimersByTimeAsync(SIGN_OUT_MS - 1);
    await expect(service.signOut('other')).rejects.toMatchObject({ reason: 'busy' });
    await jest.advanceTimersByTimeAsync(1);
    expect(await pending[1]).toMatchObject({ reason: 'timeout' });
    await jest.advanceTimersByTimeAsync(SIGN_IN_MS);
    expect(await pending[0]).toMatchObject({ reason: 'timeout' });
  });
});

const tokensSent = (): unknown[] =>
  requests.map(({ headers }) => [headers['X-AUTH-TOKEN'], headers['X-AUTH-IV']]);

describe.each(['userDetails', 'verify'] as const)('%s()', (check) => {
  it('returns the user of a token, or of a session', async () => {
    expect(await service[check]('token')).toEqual(USER);
    expect(await service[check]('token', { authIv: 'iv' })).toEqual(USER);
    expect(await service[check]({ token: 'other', authIv: 'iv' })).toEqual(USER);
    expect(tokensSent()).toEqual([
      ['token', undefined],
      ['token', 'iv'],
      ['other', 'iv'],
    ]);
  });

  it("rejects with the error of the service's answer", async () => {
    const rows = [
      [reply(401), SessionRejectedError, { code: 'SESSION_REJECTED' }],
      [reply(403), AccessDeniedError, { code: 'ACCESS_DENIED' }],
      [reply(429, { 'retry-after': '7' }), SessionServiceUnavailableError, { retryAfterSeconds: 7 }],
    ] as const;
    for (const [given, type, fields] of rows) {
      answers(given);
      // Another token each time: a refusal is cached.
      const error = await errorOf(service[check](`t${given.status}`));
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(fields);
    }
  });

  it('makes no call for what cannot be sent, and for a signal that has aborted', async () => {
    await expect(service[check]('to ken')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    await expect(service[check]('token', { authIv: '' })).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    await expect(service[check]('token', { signal: aborted })).rejects.toBe(REASON);
    expect(requests).toEqual([]);
  });

  it('waits no longer when its signal aborts', async () => {
    answer = () => new Promise(() => undefined);
    const controller = new AbortController();
    const pending = service[check]('token', { signal: controller.signal });
    controller.abort(REASON);
    await expect(pending).rejects.toBe(REASON);
    expect(requests).toHaveLength(1);
  });
});

describe('verify()', () => {
  it('uses the session cache up to the age of the call, unless its signal has aborted', async () => {
    await Promise.all([service.verify('token'), service.verify('token')]);
    await service.verify('token');
    await service.verify('token', { maxAgeMs: 60_000 });
    await expect(service.verify('token', { signal: aborted })).rejects.toBe(REASON);
    expect(requests).toHaveLength(1);
    await service.verify('token', { maxAgeMs: 0 });
    expect(requests).toHaveLength(2);
  });
});

describe('userDetails()', () => {
  it('makes a call each time', async () => {
    await service.verify('token');
    await Promise.all([service.userDetails('token'), service.userDetails('token')]);
    expect(requests).toHaveLength(3);
  });
});

describe('callAsKnown()', () => {
  it('has the verdict of a call in the lane of known sessions', async () => {
    const ask = jest.spyOn(verifier, 'callService');
    answers(reply(403));
    const session = { token: 'token', authIv: undefined };
    expect(await service.callAsKnown(session)).toMatchObject({ kind: 'forbidden' });
    expect(ask.mock.calls).toEqual([[session, 'known']]);
  });
});

describe('forget()', () => {
  it('evicts the session of a token, or of a presented session, and no other', async () => {
    for (const session of ['a', 'b', { token: 'c', authIv: 'iv' }]) await service.verify(session);
    await service.forget('a');
    await service.forget({ token: 'c', authIv: 'iv' }, {});
    expect(service.countCached()).toBe(1);
  });

  it('evicts the session also where it rejects', async () => {
    for (const call of [{ signal: aborted }, { authIv: 'i v' }]) {
      await service.verify('token');
      await expect(service.forget('token', call)).rejects.toBeDefined();
      expect(service.countCached()).toBe(0);
    }
  });

  it('waits for the other instances, unless its signal aborts', async () => {
    jest.spyOn(verifier.revoker, 'evict').mockImplementation(() => new Promise(() => undefined));
    const controller = new AbortController();
    const pending = service.forget('token', { signal: controller.signal });
    controller.abort(REASON);
    await expect(pending).rejects.toBe(REASON);
  });
});

describe('forgetUser() and forgetAll()', () => {
  it('end the sessions of the user, or all', async () => {
    await service.verify('token');
    await service.forgetUser('ann');
    await service.verify('token');
    expect([requests.length, ended]).toEqual([2, ['ann']]);
    await service.forgetAll();
    expect([service.countCached(), ended]).toEqual([0, ['ann', 'all']]);
  });

  it('reject a name that is not one', async () => {
    await expect(service.forgetUser('')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(ended).toEqual([]);
  });
});
