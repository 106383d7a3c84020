import { describe, expect, it } from '@jest/globals';
import type { CallOptions, SessionAuthService } from 'nestjs-session-auth';
import { hold, json, type Operation } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

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
  });

  it.each(CALLS)('before the call leaves nothing to do for %s', async (_name, _operation, call) => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url, options: { maxInFlight: 1 } });
    const next = service.signInAs({}, 'next');

    await expect(call(sessions, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await sessions.verify(next);
    expect(service.requests.map(({ headers }) => headers['x-auth-token'])).toEqual(['next']);
  });

  it('of one waiter leaves the others their answer', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const sessions = await bed.sessions({ baseUrl: service.url });
    const abort = new AbortController();
    const first = sessions.verify('token', { signal: abort.signal }).catch((error: unknown) => error);
    const others = [sessions.verify('token'), sessions.verify('token', { signal: new AbortController().signal })];
    await held.arrived;
    abort.abort(reason);
    expect(await first).toBe(reason);
    held.release();

    expect((await Promise.all(others)).map(({ username }) => username)).toEqual(['ann', 'ann']);
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('after the answer changes nothing', async () => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });
    const abort = new AbortController();
    const user = await sessions.verify(service.signInAs({}), { signal: abort.signal });
    abort.abort(reason);

    expect(user.username).toBe('ann');
  });
});
