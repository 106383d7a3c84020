import { describe, expect } from '@jest/globals';
import { handClock } from '../support/hand-clock.js';
import { platforms } from '../support/platforms.js';
import { hold, json, reply } from '../support/scripted-service.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

const CREDENTIALS = { username: 'ann', password: PASSWORD };

const newTokens =
  (prefix: string) =>
  (index: number): Ask => ({ token: `${TOKEN}-${prefix}-${index}` });

/**
 * The tokens of calls after the first ones: a call on a connection that was idle is made twice if the service
 * holds it for a second.
 */
const tokensAfter = ({ service }: Trial, calls: number): ReadonlySet<unknown> =>
  new Set(service.requests.slice(calls).map(({ headers }) => headers['x-auth-token']));

describe.each(platforms('Fastify'))('the circuit breakers on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();
  const breaking = {
    options: { retry: false, breaker: { pauseMs: 7_000 } },
    recover: () => clock.advance(7_000),
  } as const;

  row(
    'after 20 failures the breaker opens: 503 without a call, with the time that remains as Retry-After, but for sign-ins [F01]',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      expect(await trial.flood(20, newTokens('failing'), 1)).toEqual({ 503: 20 });
      const denials: (string | null)[] = [];
      for (const ms of [0, 3_500]) {
        clock.advance(ms);
        const { status, headers } = await trial.ask();
        denials.push(`${status} ${headers.get('retry-after')}`);
      }

      expect(denials).toEqual(['503 7', '503 4']);
      trial.service.on('sign_in', json({ ...ANN, auth_token: TOKEN }));
      expect(await trial.sessions.signIn(CREDENTIALS)).toMatchObject({ kind: 'signed-in' });
      expect(trial.calls()).toBe(20);
    },
    breaking,
  );

  row(
    'after the pause one of 100 callers probes: the others get 503 meanwhile [F02]',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      await trial.flood(20, newTokens('failing'), 1);
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      clock.advance(7_000);
      const probe = trial.status(newTokens('probe')(0));
      await held.arrived;
      expect(await trial.flood(99, newTokens('other'))).toEqual({ 503: 99 });
      held.release();

      expect([await probe, tokensAfter(trial, 20)]).toEqual([200, new Set([newTokens('probe')(0).token])]);
      trial.service.on('user_details', json(ANN));
      expect(await trial.flood(3, newTokens('later'))).toEqual({ 200: 3 });
    },
    breaking,
  );

  row('refused tokens, however many, leave the breakers closed [F03]', async (trial) => {
    trial.service.on('user_details', reply(401));
    expect(await trial.flood(100, newTokens('bad'), 50)).toEqual({ 401: 100 });
    expect(trial.calls()).toBe(100);
  });
});

describe.each(platforms('Fastify'))('bounds on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a caller who finds every place taken, in flight and in the queue, gets 503 with Retry-After 1 at once [F04]',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const inFlight = trial.status(newTokens('first')(0));
      await held.arrived;
      const { status, headers } = await trial.ask(newTokens('next')(0));
      held.release();

      expect([status, headers.get('retry-after'), await inFlight, trial.calls()]).toEqual([503, '1', 200, 1]);
    },
    { options: { maxInFlight: 1, maxQueued: 0 } },
  );
});
