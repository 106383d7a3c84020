import { describe, expect, it } from '@jest/globals';
import { SessionAuthService, SessionAuthEvents, type ServiceStatus } from 'nestjs-session-auth';
import type { SessionAuthError } from 'nestjs-session-auth/errors';
import { handClock } from '../support/hand-clock.js';
import { inLongForm } from '../support/long-form.js';
import { platforms } from '../support/platforms.js';
import { hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

describe.each(platforms('Fastify'))('the circuit to the session service on %s', (_name, platform) => {
  const bed = testbed(platform);
  // The pause does not end, however busy the machine is.
  handClock();

  it('does not stop a sign-in or a sign-out', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const app = await bed.sample({ baseUrl: service.url, options: { retry: false } });
    for (let call = 0; call < 25; call += 1) await app.get('/me', `token-${call}`);
    const sessions = app.app.get(SessionAuthService);

    await expect(sessions.signIn({ username: 'ann', password: 'x' })).resolves.toMatchObject({
      kind: 'signed-in',
    });
    await expect(sessions.signOut('token')).resolves.toBeUndefined();
    expect(service.callsTo('user_details')).toBe(20);
  });
});

const newTokens =
  (prefix: string) =>
  (index: number): Ask => ({ token: `${TOKEN}-${prefix}-${index}` });

/** Answers each token with a user of its own. */
const userEach: Script = (request, ...call) =>
  json({ ...ANN, username: `user ${String(request.headers['x-auth-token']).split('-').at(-1)}` })(
    request,
    ...call,
  );

function breakersOf({ app }: Trial): ServiceStatus['breakers'] {
  return app.app.get(SessionAuthEvents).serviceStatus.breakers;
}

/**
 * Statuses that concern the request, and not the service. 429 is another matter: see
 * `one-account.e2e-spec.ts`.
 */
const OTHER_STATUSES = [400, 403, 404, 405, 409, 413, 415, 418, 422, 431, 451];

/** The number of answers of each kind: several times the number that opens a breaker. */
const MANY = inLongForm('900 of 1,000 replies of each status') ? 1_000 : 100;

/**
 * Returns the count of each code from a number of checks with a token each, of which some are always in
 * flight.
 */
async function codesOf(
  { sessions }: Trial,
  count: number,
  tokenOf: (index: number) => string,
  atOnce = 50,
): Promise<Record<string, number>> {
  const codes: Record<string, number> = {};
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const code = await sessions.verify(tokenOf(index)).then(
        () => 'served',
        (error: unknown) => (error as SessionAuthError).code,
      );
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return codes;
}

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
    'after 20 failures the breaker opens: 503 without a call, with the time that remains as Retry-After [F01]',
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
      expect(trial.calls()).toBe(20);
    },
    breaking,
  );

  row(
    'failures of strangers open their breaker alone; those of known users open both, after 25 calls at most [F01]',
    async (trial) => {
      trial.service.on('user_details', userEach);
      expect(await trial.flood(20, newTokens('known'))).toEqual({ 200: 20 });
      trial.service.on('user_details', reply(408));
      expect(await trial.flood(25, newTokens('stranger'), 1)).toEqual({ 503: 25 });
      expect([trial.calls(), breakersOf(trial)]).toEqual([40, { known: 'closed', strangers: 'open' }]);
      trial.service.on('user_details', json(ANN));
      clock.advance(7_000);
      expect(await trial.status(newTokens('probe')(0))).toBe(200);
      expect(breakersOf(trial)).toEqual({ known: 'closed', strangers: 'closed' });
      clock.advance(10_000);
      trial.service.on('user_details', reply(500));
      expect(await trial.flood(25, (index) => newTokens('known')(index % 20), 1)).toEqual({ 503: 25 });

      expect([trial.calls(), breakersOf(trial)]).toEqual([61, { known: 'open', strangers: 'open' }]);
    },
    breaking,
  );

  row(
    'the breaker of known users has its own probe, beside that of strangers [F02]',
    async (trial) => {
      trial.service.on('user_details', userEach);
      await trial.flood(40, newTokens('known'));
      trial.service.on('user_details', reply(500));
      await trial.flood(20, newTokens('known'), 1);
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      clock.advance(7_000);
      const probes = [trial.status(newTokens('known')(30)), trial.status(newTokens('stranger')(0))];
      while (trial.calls() < 62) await new Promise(setImmediate);
      expect(
        await trial.flood(99, (index) => newTokens(index % 2 ? 'stranger' : 'known')(35 + (index % 5))),
      ).toEqual({ 503: 99 });
      held.release();

      expect([await Promise.all(probes), tokensAfter(trial, 60)]).toEqual([
        [200, 200],
        new Set([newTokens('known')(30).token, newTokens('stranger')(0).token]),
      ]);
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
    expect(await trial.flood(MANY, newTokens('bad'), 50)).toEqual({ 401: MANY });
    expect(trial.calls()).toBe(MANY);
  });

  row('answers of any other status but 429, however many, leave the breakers closed [F03]', async (trial) => {
    for (const status of OTHER_STATUSES) {
      trial.service.on('user_details', reply(status));
      const code =
        { 400: 'SESSION_REJECTED', 403: 'ACCESS_DENIED', 404: 'SESSION_REJECTED' }[status] ??
        'SESSION_SERVICE_UNAVAILABLE';
      expect([status, await codesOf(trial, MANY, (index) => `${status}-${index}`)]).toEqual([
        status,
        { [code]: MANY },
      ]);
    }
    trial.service.on('user_details', reply(404, 'no such page'));
    expect(await codesOf(trial, MANY, (index) => `page-${index}`)).toEqual({
      SESSION_SERVICE_UNAVAILABLE: MANY,
    });
    expect(trial.calls()).toBe((OTHER_STATUSES.length + 1) * MANY);
    expect(breakersOf(trial)).toEqual({ known: 'closed', strangers: 'closed' });
  });

  row(
    'malformed 200s, however many, of one account or of several, leave the breakers closed [F03]',
    async (trial) => {
      const malformed = { SESSION_SERVICE_UNAVAILABLE: MANY };
      trial.service.on('user_details', json({ role: 'no username' }));
      expect(await codesOf(trial, MANY, () => 'one', 1)).toEqual(malformed);
      expect(await codesOf(trial, MANY, (index) => `many-${index}`)).toEqual(malformed);
      expect([trial.calls(), breakersOf(trial)]).toEqual([
        2 * MANY,
        { known: 'closed', strangers: 'closed' },
      ]);
    },
  );
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

  row(
    'in a total outage 1000 callers make at most a tenth more calls than first attempts [F05]',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      expect(await trial.flood(1_000, newTokens('caller'), 50)).toEqual({ 503: 1_000 });
      expect(trial.calls()).toBeGreaterThanOrEqual(1_000);
      expect(trial.calls()).toBeLessThanOrEqual(1_100);
    },
    { options: { breaker: false } },
  );
});
