import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, remembering } from '../support/caching-app.js';

const ANN = json({ username: 'ann' });
const WAYS = ['signOut', 'forget'] as const;

describe.each(PLATFORMS)('what was dropped on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  it.each(WAYS)('by %s is not brought back by an answer that was in flight', async (leave) => {
    const { service, sessions, status, calls, holdBack } = await remembering(bed);
    const held = holdBack(ANN);
    const early = status('/me', 'token');
    await held.arrived;
    await sessions[leave]('token');
    held.release();
    expect(await early).toBe(200);
    service.on('user_details', reply(401));

    expect([await status('/me', 'token'), calls()]).toEqual([401, 2]);
  });

  it.each(WAYS)(
    'by %s is asked about anew by those who come while the old answer is in flight, and they get the new one',
    async (leave) => {
      const { sessions, status, calls, holdBack } = await remembering(bed);
      const old = holdBack(ANN);
      const early = status('/me', 'token');
      await old.arrived;
      await sessions[leave]('token');
      const anew = holdBack(reply(401));
      const late = [status('/me', 'token'), errorOf(sessions.verify('token')), errorOf(sessions.verify('token'))] as const;
      await anew.arrived;
      old.release();
      expect(await early).toBe(200);
      anew.release();

      expect(await Promise.all(late)).toMatchObject([401, { statusCode: 401 }, { statusCode: 401 }]);
      expect([await status('/me', 'token'), calls()]).toEqual([401, 2]);
    },
  );

  it.each(WAYS)('by %s stays dropped when the old answer arrives after the new one', async (leave) => {
    const { sessions, status, calls, holdBack } = await remembering(bed);
    const old = holdBack(ANN);
    const early = status('/me', 'token');
    await old.arrived;
    await sessions[leave]('token');
    const anew = holdBack(reply(401));
    const late = status('/me', 'token');
    await anew.arrived;
    anew.release();
    expect(await late).toBe(401);
    old.release();

    expect([await early, await status('/me', 'token'), calls()]).toEqual([200, 401, 2]);
  });

  it.each(WAYS)('by %s is not brought back under an IV either', async (leave) => {
    const { service, sessions, status, calls, holdBack } = await remembering(bed);
    const held = holdBack(ANN);
    const early = status('/me', 'token', { 'x-auth-iv': 'iv-1' });
    await held.arrived;
    await sessions[leave]('token');
    held.release();
    expect(await early).toBe(200);
    service.on('user_details', reply(401));

    expect([await status('/me', 'token', { 'x-auth-iv': 'iv-1' }), calls()]).toEqual([401, 2]);
  });

  it.each(WAYS)('by %s is a remembered refusal too: the next request asks', async (leave) => {
    const { service, sessions, status, calls } = await remembering(bed);
    expect(await status('/me', 'token')).toBe(401);
    await sessions[leave]('token');
    service.on('user_details', ANN);

    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it.each([
    ['without an IV', undefined, 'iv-1'],
    ['under another IV', 'iv-2', 'iv-1'],
    ['under an IV', 'iv-2', undefined],
  ])('by forget %s is dropped under whatever IV', async (_case, authIv, remembered) => {
    const { service, sessions, status, calls } = await remembering(bed);
    service.on('user_details', ANN);
    const headers = remembered === undefined ? {} : { 'x-auth-iv': remembered };
    await status('/me', 'token', headers);
    await sessions.forget('token', authIv === undefined ? {} : { authIv });

    expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });

  it('by forget is remembered again once the service has confirmed it, and no call to the service was made for it', async () => {
    const { service, sessions, status, calls } = await remembering(bed);
    const token = service.signInAs({});
    await status('/me', token);
    await sessions.forget(token);
    expect(service.requests).toHaveLength(1);

    for (const ms of [0, 0, 9_999]) {
      clock.advance(ms);
      expect([await status('/me', token), calls()]).toEqual([200, 2]);
    }
  });

  it.each([
    ['forget', 'a caller that gave up before it began', { signal: AbortSignal.abort(new Error('gave up')) }],
    ['forget', 'a caller with an IV that cannot be sent', { authIv: 'a b' }],
    ['signOut', 'a caller with an IV that cannot be sent', { authIv: 'a b' }],
  ] as const)('by %s is dropped also for %s', async (leave, _case, call) => {
    const { service, sessions, status, calls } = await remembering(bed);
    const token = service.signInAs({});
    await status('/me', token);
    expect(await errorOf(sessions[leave](token, call))).toBeInstanceOf(Error);

    expect([await status('/me', token), calls()]).toEqual([200, 2]);
  });

  it.each(WAYS)('by %s can only be a token', async (leave) => {
    const { sessions } = await remembering(bed);
    for (const token of ['', 'a b', 'x'.repeat(4_097)]) {
      expect(await errorOf(sessions[leave](token))).toMatchObject({ code: 'SESSION_REJECTED' });
    }
  });
});
