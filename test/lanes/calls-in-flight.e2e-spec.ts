import { describe, expect } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { hold, json, type Script } from '../support/scripted-service.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const CREDENTIALS = { username: 'ann', password: PASSWORD };
const SIGNED_IN = json({ ...ANN, auth_token: TOKEN });

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
});
