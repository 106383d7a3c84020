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

  it('by forget under another IV is checked again', async () => {
    const { service, sessions, status, calls } = await cachingApp(bed);
    service.on('user_details', ANSWER);
    const headers = { 'x-auth-iv': 'iv-1' };
    await status('/me', 'token', headers);
    await sessions.forget('token', { authIv: 'iv-2' });

    expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });
});
