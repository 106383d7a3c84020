import { describe, expect, it } from '@jest/globals';
import { json, reply, silence } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { cachingApp } from '../support/caching-app.js';
import { SILENCE_MS } from '../support/total-time.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';
import { MutatingController } from './mutating.controller.js';

async function everythingBut(date: 'date', reply: Response): Promise<unknown> {
  const headers = Object.fromEntries(reply.headers);
  return { status: reply.status, headers: { ...headers, [date]: undefined }, body: await reply.text() };
}

describe.each(platforms('Fastify'))('a cached session on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  it.each([
    ['moves on by an hour', 3_600_000],
    ['moves on by the lifetime', 10_000],
    ['is set back by an hour', -3_600_000],
  ])(
    'and a cached refusal are checked again when the wall clock %s while the monotonic clock stands [P33]',
    async (_what, ms) => {
      const { sessions, service, status, calls } = await cachingApp(bed);
      const token = service.signInAs({});
      expect([
        await status('/me', token),
        await status('/me', 'bad'),
        await status('/me', token),
        calls(),
      ]).toEqual([200, 401, 200, 2]);
      clock.moveWall(ms);
      expect(sessions.countCached()).toBe(0);
      clock.advance(1);
      expect([await status('/me', token), await status('/me', 'bad'), calls()]).toEqual([200, 401, 4]);
      expect([await status('/me', token), await status('/me', 'bad'), calls()]).toEqual([200, 401, 4]);
      clock.advance(9_999);
      expect([await status('/me', token), calls()]).toEqual([200, 4]);
      clock.advance(1);
      expect([await status('/me', token), calls()]).toEqual([200, 5]);
    },
  );

  it('is counted by countCached() while it is cached', async () => {
    const { sessions, service, status } = await cachingApp(bed);
    const counts = [sessions.countCached()];
    const token = service.signInAs({});
    for (const presented of [token, token, service.signInAs({}), 'unknown-token'])
      await status('/me', presented);
    counts.push(sessions.countCached());
    await sessions.forget(token);
    counts.push(sessions.countCached());
    clock.advance(10_000);
    counts.push(sessions.countCached());
    expect(counts).toEqual([0, 2, 1, 0]);
  });

  it('causes one call in its lifetime, and another after that, however often it is used', async () => {
    const { service, status, calls } = await cachingApp(bed);
    const token = service.signInAs({});
    const steps: unknown[] = [];
    for (const ms of [0, 0, 5_000, 4_999, 1, 9_999, 1]) {
      clock.advance(ms);
      steps.push([await status('/me', token), calls()]);
    }

    expect(steps).toEqual([1, 1, 1, 1, 2, 2, 3].map((asked) => [200, asked]));
  });

  it('gets the headers and the body of its first reply', async () => {
    const { service, app, calls } = await cachingApp(bed);
    const token = service.signInAs({ role: 'boss', ccl_info: { client_id: 7 } });
    const first = await everythingBut('date', await app.get('/me', token));

    expect(first).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(await everythingBut('date', await app.get('/me', token))).toEqual(first);
    expect(calls()).toBe(1);
  });
});

const CACHE = { cache: { ttlMs: 10_000, negativeTtlMs: 2_000 } };

describe.each(platforms('Fastify'))('the cache of a session on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();

  row(
    'a handler that changes request.user, its ids too, does not affect the next request [G04]',
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
    'a session is checked again when its entry has expired, and not before [G05]',
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
    'a refused token that is presented 50 times within negativeTtlMs causes one call [G07]',
    async (trial) => {
      expect(await trial.flood(50, () => ({ token: 'bad' }), 1)).toEqual({ 401: 50 });
      expect(trial.calls()).toBe(1);
    },
    { options: CACHE },
  );

  row(
    'a token that was refused and then issued by a sign-in is checked again, and gets 200 [G08]',
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
    'an outage is never cached: the next request makes a call [G10]',
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
