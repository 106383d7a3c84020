import { describe, expect } from '@jest/globals';
import { drop, json, reply, silence, type Script } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { SILENCE_MS } from '../support/total-time.js';
import { IV, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

const SESSION = { ...ANN, auth_token: TOKEN };
const CREDENTIALS = { username: 'ann', password: PASSWORD };
const LOGIN: Ask = { method: 'POST', path: '/login', token: null, body: JSON.stringify(CREDENTIALS) };
const LOGOUT: Ask = { method: 'DELETE', path: '/logout' };

const statuses = (...codes: number[]): Script[] => codes.map((code) => reply(code));

describe.each(PLATFORMS)('answers to a sign-in or a sign-out on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const options = { cache: { ttlMs: 300_000 }, signInTimeoutMs: SILENCE_MS, signOutTimeoutMs: 60_000 };

  /** What the service class makes of each answer to a sign-in, and the replies of a controller that lets the error through. */
  async function signIns(trial: Trial, scripts: readonly Script[]): Promise<unknown[]> {
    const seen: unknown[] = [];
    for (const script of scripts) {
      trial.service.on('sign_in', script);
      const before = trial.calls('sign_in');
      const error = await trial.thrownBy(trial.sessions.signIn(CREDENTIALS, { authIv: IV }));
      seen.push([(error as Error | undefined)?.name, trial.calls('sign_in') - before, await trial.status(LOGIN)]);
    }
    return seen;
  }

  row(
    'a sign-in has one typed result for each documented status, and 202 is accepted, with no user and no token, whatever its body [B11]',
    async (trial) => {
      trial.service.on('sign_in', json(SESSION));
      expect(await trial.sessions.signIn(CREDENTIALS)).toMatchObject({ kind: 'signed-in', token: TOKEN, user: ANN });
      for (const body of ['', 'any', JSON.stringify({ ...SESSION, auth_token: 'accepted' })]) {
        trial.service.on('sign_in', reply(202, body, { 'content-type': 'application/json' }));
        expect(await trial.sessions.signIn(CREDENTIALS)).toEqual({ kind: 'accepted' });
      }

      expect(await signIns(trial, [json(SESSION), ...statuses(202, 400, 401, 404, 403)])).toEqual([
        [undefined, 1, 200],
        [undefined, 1, 200],
        ['InvalidRequestError', 1, 400],
        ['CredentialsRejectedError', 1, 401],
        ['CredentialsRejectedError', 1, 401],
        ['AccessDeniedError', 1, 403],
      ]);
      expect([await trial.status({ token: 'accepted' }), trial.calls()]).toEqual([401, 1]);
    },
    { options },
  );

  row(
    'a sign-in that meets an error, a reset or silence is unavailable after one call, ever [B12]',
    async (trial) => {
      const faults = [...statuses(500, 502, 503, 504), drop, silence];
      expect(await signIns(trial, faults)).toEqual(Array(6).fill(['SessionServiceUnavailableError', 1, 503]));
    },
    { options },
  );

  row(
    'a sign-out is done after 200, 401 and 404 and unavailable after 5xx, one call each, and ends what was remembered in all of them [B13]',
    async (trial) => {
      const seen: unknown[] = [];
      for (const code of [200, 401, 404, 500, 503]) {
        const token = trial.service.signInAs(ANN, `${TOKEN}-${code}`);
        trial.service.on('sign_out', reply(code));
        await trial.ask({ token });
        const [checks, signOuts] = [trial.calls(), trial.calls('sign_out')];
        const error = await trial.thrownBy(trial.sessions.signOut(token, { authIv: IV }));
        const calls = trial.calls('sign_out') - signOuts;
        await trial.ask({ token });
        seen.push([(error as Error | undefined)?.name, calls, trial.calls() - checks, await trial.status({ ...LOGOUT, token })]);
      }

      const done = [undefined, 1, 1, 200];
      const unavailable = ['SessionServiceUnavailableError', 1, 1, 503];
      expect(seen).toEqual([done, done, done, unavailable, unavailable]);
    },
    { options },
  );
});
