import { describe, expect, it } from '@jest/globals';
import { UserRecord, type CallOptions, type SessionAuthService } from 'nestjs-session-auth';
import { hold, json, reply, type Operation } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
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
});
