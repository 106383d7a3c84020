import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { drop, hold, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, remembering } from '../support/caching-app.js';

const ANN = json({ username: 'ann' });

const OUTCOMES: [string, Script][] = [
  ['200', reply(200)],
  ['401', reply(401)],
  ['404', reply(404)],
  ['400', reply(400)],
  ['403', reply(403)],
  ['500', reply(500)],
  ['302', reply(302, '', { location: '/' })],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(PLATFORMS)('a sign-out on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();
  const sample = { options: { signOutTimeoutMs: 200 } };

  it.each(OUTCOMES)(
    'that is answered with %s ends what was remembered: the next request gets what the service says',
    async (_case, script) => {
      const { service, status, calls, sessions } = await remembering(bed, {}, sample);
      const token = service.signInAs({});
      expect([await status('/me', token), await status('/me', token), calls()]).toEqual([200, 200, 1]);
      service.on('sign_out', script);
      await errorOf(sessions.signOut(token));
      service.revoke(token);

      expect([await status('/me', token), calls()]).toEqual([401, 2]);
    },
  );

  it.each(OUTCOMES)(
    'that is answered with %s bars its token from memory for its lifetime, whatever the service says',
    async (_case, script) => {
      const { service, status, calls, sessions } = await remembering(bed, {}, sample);
      service.on('user_details', ANN);
      service.on('sign_out', script);
      await errorOf(sessions.signOut('token'));
      const steps: [number, number][] = [];
      for (const ms of [0, 0, 9_999, 1, 1]) {
        clock.advance(ms);
        steps.push([await status('/me', 'token'), calls()]);
      }

      expect(steps).toEqual([1, 2, 3, 4, 4].map((asked) => [200, asked]));
    },
  );

  it('bars its token for as long as it could have served in an outage, too', async () => {
    const { service, status, calls, sessions } = await remembering(bed, { staleIfErrorMs: 5_000 });
    service.on('user_details', ANN);
    await sessions.signOut('token');
    clock.advance(14_999);
    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 2]);

    clock.advance(1);
    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 3]);
  });

  it.each([
    ['without an IV', undefined, 'iv-1'],
    ['under another IV', 'iv-2', 'iv-1'],
    ['under an IV', 'iv-2', undefined],
  ])('%s bars its token under whatever IV', async (_case, authIv, remembered) => {
    const { service, status, calls, sessions } = await remembering(bed);
    service.on('user_details', ANN);
    const headers = remembered === undefined ? {} : { 'x-auth-iv': remembered };
    await status('/me', 'token', headers);
    await sessions.signOut('token', authIv === undefined ? {} : { authIv });

    for (const asked of [2, 3]) expect([await status('/me', 'token', headers), calls()]).toEqual([200, asked]);
  });

  it('ends what was remembered before the service hears of it', async () => {
    const { service, status, calls, sessions } = await remembering(bed);
    const token = service.signInAs({});
    await status('/me', token);
    const held = hold(reply(200));
    service.on('sign_out', held.script);
    const leaving = sessions.signOut(token);
    await held.arrived;
    service.revoke(token);

    expect([await status('/me', token), calls()]).toEqual([401, 2]);
    held.release();
    await leaving;
  });

  it('ends what was remembered also for a caller that gave up before it began', async () => {
    const { service, status, calls, sessions } = await remembering(bed);
    const token = service.signInAs({});
    await status('/me', token);
    const signal = AbortSignal.abort(new Error('gave up'));
    expect(await errorOf(sessions.signOut(token, { signal }))).toMatchObject({ message: 'gave up' });

    expect([await status('/me', token), calls()]).toEqual([200, 2]);
  });

  it('is not undone by an answer that was asked for while it was in flight: nobody who comes afterwards shares it', async () => {
    const { service, status, calls, sessions, holdBack } = await remembering(bed);
    const [asked, leaving] = [holdBack(ANN), hold(reply(200))];
    service.on('sign_out', leaving.script);
    const left = sessions.signOut('token');
    await leaving.arrived;
    const early = status('/me', 'token');
    await asked.arrived;
    leaving.release();
    await left;
    service.on('user_details', reply(401));

    expect([await status('/me', 'token'), calls()]).toEqual([401, 2]);
    asked.release();
    expect([await early, await status('/me', 'token'), calls()]).toEqual([200, 401, 2]);
  });

  it('bars its token from its end on, however long it took', async () => {
    const { service, status, calls, sessions } = await remembering(bed);
    service.on('user_details', ANN);
    const leaving = hold(reply(200));
    service.on('sign_out', leaving.script);
    const left = sessions.signOut('token');
    await leaving.arrived;
    clock.advance(9_999);
    leaving.release();
    await left;
    clock.advance(9_999);

    for (const asked of [1, 2]) expect([await status('/me', 'token'), calls()]).toEqual([200, asked]);
  });

  it('leaves the sessions of other tokens as they were', async () => {
    const { service, status, calls, sessions } = await remembering(bed);
    const [ann, bob] = [service.signInAs({}), service.signInAs({ username: 'bob' })];
    for (const token of [ann, bob]) await status('/me', token);
    await sessions.signOut(ann);

    expect([await status('/me', bob), calls()]).toEqual([200, 2]);
  });
});
