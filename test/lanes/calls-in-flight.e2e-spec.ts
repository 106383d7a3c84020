import { describe, expect } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { SILENCE_MS } from '../support/total-time.js';
import { hold, json, silence, reply, type Script } from '../support/scripted-service.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const CREDENTIALS = { username: 'ann', password: PASSWORD };
const SIGNED_IN = json({ ...ANN, auth_token: TOKEN });
const BUSY = { statusCode: 503, reason: 'busy', retryAfterSeconds: 1 };

/** The outcomes of many concurrent calls. */
async function outcomes(trial: Trial, calls: readonly Promise<unknown>[]) {
  const thrown = await Promise.all(calls.map((call) => trial.thrownBy(call)));
  const failed = thrown.filter((error) => error !== undefined);
  const other = failed.filter((error) => (error as { reason?: string }).reason !== 'busy');
  return { done: calls.length - failed.length, busy: failed.length - other.length, other };
}

/** Counts the connections that are open at once. */
function counting(script: Script) {
  const open = { now: 0, most: 0 };
  const counted: Script = (request, response, socket) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    socket.on('close', () => (open.now -= 1));
    script(request, response, socket);
  };
  return { open, script: counted };
}

describe.each(platforms('Fastify'))('a rush of sign-ins on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const signIns = (trial: Trial, count: number) =>
    Array.from({ length: count }, () => trial.sessions.signIn(CREDENTIALS));
  const signOuts = (trial: Trial, count: number) =>
    Array.from({ length: count }, (_, index) => trial.sessions.signOut(`${TOKEN}-${index}`));

  row(
    'of 1,500 sign-ins at once 32 reach the service, each on its connection, and the others get 503 at once [P11]',
    async (trial) => {
      const held = hold(SIGNED_IN);
      const { open, script } = counting(held.script);
      trial.service.on('sign_in', script);
      const calls = outcomes(trial, signIns(trial, 1_499));
      const body = JSON.stringify(CREDENTIALS);
      const answer = await trial.ask({ method: 'POST', path: '/login', body, token: null, iv: null });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      await held.arrived;
      held.release();

      expect(await calls).toEqual({ done: 32, busy: 1_467, other: [] });
      expect([trial.calls('sign_in'), trial.service.connections()]).toEqual([32, 32]);
      expect(open.most).toBeLessThanOrEqual(32);
      expect(await outcomes(trial, signIns(trial, 32))).toEqual({ done: 32, busy: 0, other: [] });
    },
  );

  row(
    'sign-ins that wait delay no sign-out and no check, and sign-outs have the same bound [P11]',
    async (trial) => {
      const [held, leaving] = [hold(SIGNED_IN), hold(reply(200))];
      trial.service.on('sign_in', held.script);
      const calls = outcomes(trial, signIns(trial, 10));
      await held.arrived;
      expect(await outcomes(trial, signOuts(trial, 2))).toEqual({ done: 2, busy: 0, other: [] });
      expect(await trial.status()).toBe(200);
      trial.service.on('sign_out', leaving.script);
      const ends = outcomes(trial, signOuts(trial, 10));
      await leaving.arrived;
      leaving.release();
      held.release();
      expect(await Promise.all([calls, ends])).toEqual(Array(2).fill({ done: 2, busy: 8, other: [] }));
    },
    { options: { maxSignIns: 2 } },
  );

  row(
    'a sign-in that is aborted, times out or fails frees its place and its connection [P11]',
    async (trial) => {
      const { open, script } = counting(silence);
      trial.service.on('sign_in', script);
      const abort = new AbortController();
      const aborted = trial.sessions.signIn(CREDENTIALS, { signal: abort.signal });
      expect(await trial.thrownBy(trial.sessions.signIn(CREDENTIALS))).toMatchObject(BUSY);
      abort.abort();
      expect(await trial.thrownBy(aborted)).toMatchObject({ name: 'AbortError' });
      expect(await trial.thrownBy(trial.sessions.signIn(CREDENTIALS))).toMatchObject({ reason: 'timeout' });
      trial.service.on('sign_in', (_request, _response, socket) => void socket.resetAndDestroy());
      expect(await trial.thrownBy(trial.sessions.signIn(CREDENTIALS))).toMatchObject({
        reason: 'unreachable',
      });
      expect(await trial.thrownBy(trial.sessions.signIn({} as never))).toMatchObject({ statusCode: 400 });
      trial.service.on('sign_in', SIGNED_IN);
      expect((await trial.sessions.signIn(CREDENTIALS)).kind).toBe('signed-in');
      await trial.service.idle();
      expect(open.now).toBe(0);
    },
    { options: { maxSignIns: 1, signInTimeoutMs: SILENCE_MS } },
  );
});
