import { describe, expect, it } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { hold, json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, cachingApp } from '../support/caching-app.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const ANSWER = json({ username: 'ann' });

describe.each(platforms('Express'))('a sign-out on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  it.each([200, 500])(
    'that is answered with %i keeps its token out of the cache for `ttlMs`, even if the service accepts it',
    async (answer) => {
      const { service, status, calls, sessions } = await cachingApp(bed);
      service.on('user_details', ANSWER);
      service.on('sign_out', reply(answer));
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

describe.each(platforms('Express'))('a session that was evicted on %s', (_name, platform) => {
  const bed = testbed(platform);
  handClock();

  it.each([
    ['forget', 'under another IV', { authIv: 'iv-2' }, false],
    ['forget', 'by a caller that gave up before', { signal: AbortSignal.abort(new Error()) }, true],
    ['forget', 'with an IV that cannot be sent', { authIv: 'a b' }, true],
    ['signOut', 'with an IV that cannot be sent', { authIv: 'a b' }, true],
  ] as const)('by %s %s is checked again', async (leave, _case, call, fails) => {
    const { service, sessions, status, calls } = await cachingApp(bed);
    service.on('user_details', ANSWER);
    const headers = { 'x-auth-iv': 'iv-1' };
    await status('/me', 'token', headers);
    expect((await errorOf(sessions[leave]('token', call))) instanceof Error).toBe(fails);

    expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });
});
