import { describe, expect, it } from '@jest/globals';
import { UserRecord, type CallOptions, type SessionAuthService } from 'nestjs-session-auth';
import {
  drop,
  hold,
  json,
  reply,
  silence,
  type Script,
  type Operation,
} from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';

type Method = 'userDetails' | 'verify';
const METHODS: [Method][] = [['userDetails'], ['verify']];
const ANN = { username: 'ann', auth_token: 'token' };

describe.each(METHODS)('%s', (method) => {
  const bed = testbed();

  it('brings the frozen record of a valid session', async () => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });
    const user = await sessions[method](service.signInAs({ role: 'boss' }, 'token'), { authIv: 'iv-1' });

    expect(user).toBeInstanceOf(UserRecord);
    expect(user).toMatchObject({ username: 'ann', role: 'boss', auth_token: 'token' });
    expect(Object.isFrozen(user)).toBe(true);
    expect(service.requests[0]?.headers).toMatchObject({ 'x-auth-token': 'token', 'x-auth-iv': 'iv-1' });
  });

  it.each<[string, Script, object, number]>([
    ['401', reply(401), { name: 'SessionRejectedError', statusCode: 401 }, 1],
    ['403', reply(403), { name: 'AccessDeniedError', statusCode: 403 }, 1],
    ['429', reply(429, '', { 'retry-after': '9' }), { reason: 'rate_limited', retryAfterSeconds: 9 }, 1],
    [
      '500',
      reply(500),
      { name: 'SessionServiceUnavailableError', reason: 'server_error', statusCode: 503 },
      2,
    ],
    ['a reset', drop, { name: 'SessionServiceUnavailableError', reason: 'unreachable' }, 2],
    ['silence', silence, { name: 'SessionServiceUnavailableError', reason: 'timeout' }, 1],
  ])(
    'rejects with its own error when the service answers with %s',
    async (_answer: string, script: Script, error: object, calls: number) => {
      const service = await bed.service();
      service.on('user_details', script);
      const sessions = await bed.sessions({
        baseUrl: service.url,
        options: { timeoutMs: totalTimeFor(script) },
      });

      await expect(sessions[method]('token')).rejects.toMatchObject(error);
      expect(service.callsTo('user_details')).toBe(calls);
    },
  );
});

describe('concurrent checks of one token', () => {
  const bed = testbed();

  it.each<[Method, number]>([
    ['verify', 1],
    ['userDetails', 3],
  ])('by %s make %p calls', async (method, calls) => {
    const service = await bed.service();
    const held = hold(json(ANN));
    service.on('user_details', held.script);
    const sessions = await bed.sessions({ baseUrl: service.url });
    const asked = Promise.all([1, 2, 3].map(() => sessions[method]('token')));
    await held.arrived;
    held.release();

    expect(await asked).toHaveLength(3);
    expect(service.callsTo('user_details')).toBe(calls);
  });

  it.each(['forget', 'signOut'] as const)('do not outlive %s', async (leave) => {
    const service = await bed.service();
    const held = hold(json(ANN));
    service.on('user_details', held.script);
    const sessions = await bed.sessions({ baseUrl: service.url });
    const early = [sessions.verify('token'), sessions.verify('token', { authIv: 'iv-1' })];
    await held.arrived;
    await sessions[leave]('token');
    service.on('user_details', reply(401));

    await expect(sessions.verify('token')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    await expect(sessions.verify('token', { authIv: 'iv-1' })).rejects.toMatchObject({
      code: 'SESSION_REJECTED',
    });
    held.release();
    await Promise.allSettled(early);
  });
});

describe('a token or an IV that cannot be sent', () => {
  const bed = testbed();
  const use: [
    string,
    (sessions: SessionAuthService, token: string, call: CallOptions) => Promise<unknown>,
  ][] = [
    ['userDetails', (sessions, token, call) => sessions.userDetails(token, call)],
    ['verify', (sessions, token, call) => sessions.verify(token, call)],
    ['signOut', (sessions, token, call) => sessions.signOut(token, call)],
    ['forget', (sessions, token, call) => sessions.forget(token, call)],
  ];
  const bad = ['', 'a b', 'a\r\nX-API-KEY: x', 'é', 't'.repeat(4097), undefined, null, 7, ['a']];

  it.each(use)('is rejected by %s without a call to the service', async (_method, call) => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });

    for (const value of bad as string[]) {
      await expect(call(sessions, value, {})).rejects.toMatchObject({ name: 'SessionRejectedError' });
    }
    for (const authIv of ['', 'i v', 'i\r\nv', 'é', null as unknown as string]) {
      await expect(call(sessions, 'token', { authIv })).rejects.toMatchObject({
        name: 'SessionRejectedError',
      });
    }
    await expect(call(sessions, {} as string, {})).rejects.toMatchObject({ name: 'InvalidRequestError' });
    expect(service.requests).toHaveLength(0);
  });
});

type Call = (sessions: SessionAuthService, call: CallOptions) => Promise<unknown>;

const CALLS: [string, Operation, Call][] = [
  ['signIn', 'sign_in', (sessions, call) => sessions.signIn({ username: 'ann', password: 'x' }, call)],
  ['signOut', 'sign_out', (sessions, call) => sessions.signOut('token', call)],
  ['userDetails', 'user_details', (sessions, call) => sessions.userDetails('token', call)],
  ['verify', 'user_details', (sessions, call) => sessions.verify('token', call)],
];

describe('an abort', () => {
  const bed = testbed();
  const reason = new Error('the caller has gone');

  it.each(CALLS)('ends the wait for %s with the reason of the signal', async (_name, operation, call) => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on(operation, held.script);
    const sessions = await bed.sessions({ baseUrl: service.url });
    const abort = new AbortController();
    const outcome = call(sessions, { signal: abort.signal }).catch((error: unknown) => error);
    await held.arrived;
    abort.abort(reason);

    expect(await outcome).toBe(reason);
    held.release();
  });

  it('of one waiter leaves the others their answer', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const sessions = await bed.sessions({ baseUrl: service.url });
    const abort = new AbortController();
    const first = sessions.verify('token', { signal: abort.signal }).catch((error: unknown) => error);
    const others = [
      sessions.verify('token'),
      sessions.verify('token', { signal: new AbortController().signal }),
    ];
    await held.arrived;
    abort.abort(reason);
    expect(await first).toBe(reason);
    held.release();

    expect((await Promise.all(others)).map(({ username }) => username)).toEqual(['ann', 'ann']);
    expect(service.callsTo('user_details')).toBe(1);
  });
});
