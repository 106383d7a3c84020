import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../../client/deadline.js';
import type { Answer, Reply } from '../../client/reply.js';
import type { ServiceRequest } from '../../client/connections.js';
import { SessionClient } from '../../client/session-client.js';
import { unavailable } from '../../contract/outcome.js';
import { SessionCache } from '../../verifier/session-cache.js';
import { Lanes } from '../../verifier/lanes.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { SessionAuthService } from './session-auth.service.js';

const USER = { username: 'ann', auth_token: 'token' };
const CREDENTIALS = { username: 'ann', password: 'secret' };
const LIMITS = { ttlMs: 60_000, negativeTtlMs: 60_000, maxEntries: 10, refreshAheadMs: 0, staleIfErrorMs: 0 };
const [SIGN_IN_MS, SIGN_OUT_MS] = [2_000, 1_000];
const reply = (status: number, json: object = USER): Reply => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(json)),
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
const aborted = AbortSignal.abort(new Error('the client has left'));

beforeEach(() => {
  [requests, ended] = [[], []];
  answers(reply(200));
  const send = (request: ServiceRequest): Promise<Answer> => (requests.push(request), answer(request));
  const address = { baseUrl: 'http://service', apiKey: 'key', http: { maxTokenLength: 5 } };
  const verdicts = { statusMap: {}, tokenEcho: 'ignore' } as const;
  const client = new SessionClient<object>(
    { send, renew: () => undefined },
    { ...address, ...verdicts },
    (json) => json,
    {} as never,
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
    maxTokenLength: 5,
  };
  service = new SessionAuthService(client, verifier, deadlines, settings);
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

  it('rejects credentials and an X-AUTH-IV that cannot be sent, without a call', async () => {
    await expect(service.signIn({ username: 'ann' } as never)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(signIn({ authIv: 'i v' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(requests).toEqual([]);
  });

  it('is limited in number, and takes its time at most', async () => {
    jest.useFakeTimers();
    answer = silence;
    const first = errorOf(signIn());
    await expect(signIn()).rejects.toMatchObject({ reason: 'busy' });
    await jest.advanceTimersByTimeAsync(SIGN_IN_MS - 1);
    answers(reply(200));
    await expect(signIn()).rejects.toMatchObject({ reason: 'busy' });
    await jest.advanceTimersByTimeAsync(1);
    expect(await first).toMatchObject({ reason: 'timeout' });
    expect(await signIn()).toMatchObject({ kind: 'signed-in' });
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

  it('rejects a token that cannot be sent', async () => {
    await expect(service.signOut('to ken')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    expect(requests).toEqual([]);
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
