import { describe, expect } from '@jest/globals';
import { json, reply, silence } from 'nestjs-session-auth/testing';
import { handClock } from '../support/hand-clock.js';
import { PLATFORMS } from '../support/platforms.js';
import { SILENCE_MS } from '../support/total-time.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { MutatingController } from './mutating.controller.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const CACHE = { cache: { ttlMs: 10_000, negativeTtlMs: 2_000 } };

describe.each(PLATFORMS)('memory on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();

  row(
    'a handler that changes request.user, its ids too, changes nothing for the next request [G04]',
    async (trial) => {
      const record = { ...ANN, ccl_info: { client_id: 7 } };
      trial.service.on('user_details', json(record));
      for (const path of ['/change', '/change', '/me']) {
        expect(JSON.parse((await trial.ask({ path })).body)).toEqual(record);
      }
      expect(trial.calls()).toBe(1);
    },
    { options: CACHE, controllers: [MutatingController] },
  );

  row(
    'a session is asked about again when its time has passed, and not before [G05]',
    async (trial) => {
      const calls: number[] = [];
      for (const ms of [0, 9_999, 1, 0]) {
        clock.advance(ms);
        expect(await trial.status()).toBe(200);
        calls.push(trial.calls());
      }
      expect(calls).toEqual([1, 1, 2, 2]);
    },
    { options: CACHE },
  );

  row(
    'a refused token that comes 50 times within the time of a refusal is asked about once [G07]',
    async (trial) => {
      expect(await trial.flood(50, () => ({ token: 'bad' }), 1)).toEqual({ 401: 50 });
      expect(trial.calls()).toBe(1);
    },
    { options: CACHE },
  );

  row(
    'a token that was refused and then comes out of a sign-in is asked about again, and gets 200 [G08]',
    async (trial) => {
      const token = `${TOKEN}-later`;
      expect(await trial.status({ token })).toBe(401);
      trial.service.signInAs(ANN, token);
      trial.service.on('sign_in', json({ ...ANN, auth_token: token }));
      await trial.sessions.signIn({ username: 'ann', password: PASSWORD });

      expect([await trial.status({ token }), trial.calls()]).toEqual([200, 2]);
    },
    { options: CACHE },
  );

  row(
    'an outage is never remembered: the next request asks again [G10]',
    async (trial) => {
      const outages = [reply(500), reply(202), reply(404, 'no such page'), json({}), silence];
      for (const [index, script] of outages.entries()) {
        trial.service.on('user_details', script);
        expect(await trial.status()).toBe(503);
        expect(trial.calls()).toBe(index + 1);
      }
      trial.service.on('user_details', json(ANN));
      expect([await trial.status(), trial.calls()]).toEqual([200, outages.length + 1]);
    },
    { options: { ...CACHE, retry: false, timeoutMs: SILENCE_MS } },
  );
});
