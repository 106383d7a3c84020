import { describe, expect, it } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import type { Credentials } from 'nestjs-session-auth';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { errorOf } from '../support/caching-app.js';
import { SILENCE_MS } from '../support/total-time.js';
import { platforms } from '../support/platforms.js';
import { canariesIn, everythingOf, IV, PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

const ISSUED = { ...ANN, auth_token: TOKEN };
const CREDENTIALS = { username: 'ann', password: PASSWORD };
const HEADERS = {
  host: expect.any(String) as unknown,
  connection: 'close',
  accept: 'application/json',
  'accept-encoding': 'identity',
  'x-api-key': 'application-key',
  'x-auth-iv': IV,
};

describe('a sign-in', () => {
  const bed = testbed();

  it('and a sign-out send the fields of the interface and nothing else', async () => {
    const service = await bed.service();
    service.on('sign_in', json(ISSUED));
    const sessions = await bed.sessions({ baseUrl: service.url });
    await sessions.signIn({ ...CREDENTIALS, persist: true } as Credentials, { authIv: IV });
    await sessions.signOut(TOKEN, { authIv: IV });

    const body = JSON.stringify(CREDENTIALS);
    const content = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    expect(service.requests).toMatchObject([
      { method: 'POST', path: '/authentication', body },
      { method: 'DELETE', path: '/authentication', body: '' },
    ]);
    expect(service.requests.map(({ headers }) => headers)).toEqual([
      { ...HEADERS, ...content },
      { ...HEADERS, 'x-auth-token': TOKEN },
    ]);
  });

  it('is published with its outcome, without the user, the password and the token', async () => {
    const messages: unknown[] = [];
    const note = (message: unknown): void => void messages.push(message);
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });
    subscribe('tracing:nestjs-session-auth:call:asyncEnd', note);
    for (const script of [json(ISSUED), reply(401), reply(500)]) {
      service.on('sign_in', script);
      await errorOf(sessions.signIn(CREDENTIALS, { authIv: IV }));
    }
    unsubscribe('tracing:nestjs-session-auth:call:asyncEnd', note);

    expect(messages).toMatchObject([
      { operation: 'sign_in', outcome: 'done', statusCode: 200 },
      { operation: 'sign_in', outcome: 'failed', statusCode: 401 },
      { operation: 'sign_in', outcome: 'failed', statusCode: 500 },
    ]);
    const printed = messages.map(everythingOf).join('\n');
    expect([canariesIn(printed), printed.includes('ann')]).toEqual([[], false]);
  });

  it('does not reveal whether the user or the password is wrong', async () => {
    const service = await bed.service();
    const sessions = await bed.sessions({ baseUrl: service.url });
    const seen: unknown[] = [];
    for (const status of [401, 404]) {
      service.on('sign_in', reply(status));
      const error: unknown = await sessions.signIn(CREDENTIALS).catch((thrown: unknown) => thrown);
      seen.push([inspect(error).split('\n', 1), Object.entries(error as Error)]);
    }
    expect(seen[1]).toEqual(seen[0]);
  });
});

const LOGIN: Ask = { method: 'POST', path: '/login', token: null, body: JSON.stringify(CREDENTIALS) };
const LOGOUT: Ask = { method: 'DELETE', path: '/logout' };

const statuses = (...codes: number[]): Script[] => codes.map((code) => reply(code));

describe.each(platforms('Fastify'))('answers to a sign-in or a sign-out on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const options = { cache: { ttlMs: 300_000 }, signInTimeoutMs: SILENCE_MS, signOutTimeoutMs: 60_000 };

  /**
   * The results of the service class for each answer to a sign-in, and the replies of a controller that does
   * not catch the error.
   */
  async function signIns(trial: Trial, scripts: readonly Script[]): Promise<unknown[]> {
    const seen: unknown[] = [];
    for (const script of scripts) {
      trial.service.on('sign_in', script);
      const before = trial.calls('sign_in');
      const error = await trial.thrownBy(trial.sessions.signIn(CREDENTIALS, { authIv: IV }));
      seen.push([
        (error as Error | undefined)?.name,
        trial.calls('sign_in') - before,
        await trial.status(LOGIN),
      ]);
    }
    return seen;
  }

  row(
    'a sign-in has one typed result for each documented status, and 202 is accepted, with no user and no token, for any body [B11]',
    async (trial) => {
      trial.service.on('sign_in', json(ISSUED));
      expect(await trial.sessions.signIn(CREDENTIALS)).toMatchObject({
        kind: 'signed-in',
        token: TOKEN,
        user: ANN,
      });
      for (const body of ['', 'any', JSON.stringify({ ...ISSUED, auth_token: 'accepted' })]) {
        trial.service.on('sign_in', reply(202, body, { 'content-type': 'application/json' }));
        expect(await trial.sessions.signIn(CREDENTIALS)).toEqual({ kind: 'accepted' });
      }

      expect(await signIns(trial, [json(ISSUED), ...statuses(202, 400, 401, 404, 403)])).toEqual([
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
    'a sign-in that meets an error, a reset or silence is unavailable after exactly one call [B12]',
    async (trial) => {
      const faults = [...statuses(500, 502, 503, 504), drop, silence];
      expect(await signIns(trial, faults)).toEqual(Array(6).fill(['SessionServiceUnavailableError', 1, 503]));
    },
    { options },
  );

  row(
    'a sign-out is done after 200, 401 and 404 and unavailable after 5xx, one call each, and evicts the session in all of them [B13]',
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
        seen.push([
          (error as Error | undefined)?.name,
          calls,
          trial.calls() - checks,
          await trial.status({ ...LOGOUT, token }),
        ]);
      }

      const done = [undefined, 1, 1, 200];
      const unavailable = ['SessionServiceUnavailableError', 1, 1, 503];
      expect(seen).toEqual([done, done, done, unavailable, unavailable]);
    },
    { options },
  );
});
