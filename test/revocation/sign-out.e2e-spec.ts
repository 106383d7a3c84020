import { describe, expect, it } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { hold, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, cachingApp } from '../support/caching-app.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const ANSWER = json({ username: 'ann' });

const OUTCOMES: [string, Script][] = [
  ['200', reply(200)],
  ['500', reply(500)],
  ['silence', silence],
];

describe.each(platforms('Express'))('a sign-out on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();
  const sample = { options: { signOutTimeoutMs: 200 } };

  it.each(OUTCOMES)(
    'that is answered with %s keeps its token out of the cache for `ttlMs`, even if the service accepts it',
    async (_case, script) => {
      const { service, status, calls, sessions } = await cachingApp(bed, {}, sample);
      service.on('user_details', ANSWER);
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

  it('evicts the session before it calls the service', async () => {
    const { service, status, calls, sessions } = await cachingApp(bed);
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

  it('is not undone by a check that started while it was in flight: later requests do not join that check', async () => {
    const { service, status, calls, sessions, holdBack } = await cachingApp(bed);
    const [asked, leaving] = [holdBack(ANSWER), hold(reply(200))];
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

  it('keeps its token out of the cache from its completion on, however long it took', async () => {
    const { service, status, calls, sessions } = await cachingApp(bed);
    service.on('user_details', ANSWER);
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
});

const CACHING = { options: { cache: { ttlMs: 300_000 } } };

describe.each(platforms('Express'))('sign-out on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a request after a sign-out gets the answer of one call, never of the cache [H01]',
    async (trial) => {
      for (const [signOut, says] of [
        [200, 401],
        [500, 401],
        [200, 403],
      ] as const) {
        const token = `${TOKEN}-${signOut}-${says}`;
        trial.service.on('user_details', json(ANN));
        expect([await trial.status({ token }), await trial.status({ token })]).toEqual([200, 200]);
        trial.service.on('sign_out', reply(signOut));
        await trial.thrownBy(trial.sessions.signOut(token));
        const before = trial.calls();
        trial.service.on('user_details', reply(says));
        expect([await trial.status({ token }), trial.calls() - before]).toEqual([says, 1]);
      }
    },
    CACHING,
  );

  row(
    'an answer in flight while a sign-out settles is not cached, and later requests make a new call [H02]',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const early = trial.status();
      await held.arrived;
      await trial.sessions.signOut(TOKEN);
      trial.service.on('user_details', json(ANN));

      expect([await trial.status(), trial.calls()]).toEqual([200, 2]);
      held.release();
      expect([await early, await trial.status(), trial.calls()]).toEqual([200, 200, 3]);
    },
    CACHING,
  );
});

const WAYS = ['signOut', 'forget'] as const;

describe.each(platforms('Express'))('a session that was evicted on %s', (_name, platform) => {
  const bed = testbed(platform);
  handClock();

  it.each(WAYS)(
    'by %s is checked again by requests that arrive while an old answer is in flight, and they get the new one',
    async (leave) => {
      const { sessions, status, calls, holdBack } = await cachingApp(bed);
      const old = holdBack(ANSWER);
      const early = status('/me', 'token');
      await old.arrived;
      await sessions[leave]('token');
      const renewed = holdBack(reply(401));
      const late = [
        status('/me', 'token'),
        errorOf(sessions.verify('token')),
        errorOf(sessions.verify('token')),
      ] as const;
      await renewed.arrived;
      old.release();
      expect(await early).toBe(200);
      renewed.release();

      expect(await Promise.all(late)).toMatchObject([401, { statusCode: 401 }, { statusCode: 401 }]);
      expect([await status('/me', 'token'), calls()]).toEqual([401, 2]);
    },
  );

  it.each(WAYS)('by %s is not brought back under an IV either', async (leave) => {
    const { service, sessions, status, calls, holdBack } = await cachingApp(bed);
    const held = holdBack(ANSWER);
    const early = status('/me', 'token', { 'x-auth-iv': 'iv-1' });
    await held.arrived;
    await sessions[leave]('token');
    held.release();
    expect(await early).toBe(200);
    service.on('user_details', reply(401));

    expect([await status('/me', 'token', { 'x-auth-iv': 'iv-1' }), calls()]).toEqual([401, 2]);
  });

  it.each(
    WAYS.flatMap((leave) => [
      [leave, 'without an IV', undefined, 'iv-1'] as const,
      [leave, 'under another IV', 'iv-2', 'iv-1'] as const,
      [leave, 'under an IV', 'iv-2', undefined] as const,
    ]),
  )(
    'by %s %s is evicted under every IV, and signOut keeps it out of the cache',
    async (leave, _case, authIv, cachedIv) => {
      const { service, sessions, status, calls } = await cachingApp(bed);
      service.on('user_details', ANSWER);
      const headers = cachedIv === undefined ? {} : { 'x-auth-iv': cachedIv };
      await status('/me', 'token', headers);
      await sessions[leave]('token', authIv === undefined ? {} : { authIv });

      expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
      expect([await status('/me', 'token', headers), calls()]).toEqual([200, leave === 'signOut' ? 3 : 2]);
    },
  );

  it.each([
    ['forget', 'a caller that gave up before it began', { signal: AbortSignal.abort(new Error('gave up')) }],
    ['forget', 'a caller with an IV that cannot be sent', { authIv: 'a b' }],
    ['signOut', 'a caller with an IV that cannot be sent', { authIv: 'a b' }],
  ] as const)('by %s is evicted also for %s', async (leave, _case, call) => {
    const { service, sessions, status, calls } = await cachingApp(bed);
    const token = service.signInAs({});
    await status('/me', token);
    expect(await errorOf(sessions[leave](token, call))).toBeInstanceOf(Error);

    expect([await status('/me', token), calls()]).toEqual([200, 2]);
  });
});
