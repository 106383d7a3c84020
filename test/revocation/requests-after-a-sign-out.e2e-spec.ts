import { describe, expect } from '@jest/globals';
import { hold, json, reply } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const remembering = { options: { cache: { ttlMs: 300_000 } } };

describe.each(PLATFORMS)('sign-out on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a request after a sign-out gets what the service says, from one call and never from memory [H01]',
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
    remembering,
  );

  row(
    'an answer in flight while a sign-out settles is not remembered, and who comes afterwards asks anew [H02]',
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
    remembering,
  );
});
