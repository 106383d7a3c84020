import { describe, expect, it } from '@jest/globals';
import type { SessionAuthCacheOptions } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { drop, json, reply, silence, type HeldScript, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, cachingApp, type CachingApp } from '../support/caching-app.js';
import { StaleController } from './stale-controller.js';

/** With the first check: one that stays silent on an idle connection may be sent once more. */
const callsIn = (outage: Script): number[] => (outage === silence ? [2, 3] : [2]);

const FAILURES: [string, Script][] = [
  ['500', reply(500)],
  ['429', reply(429)],
  ['200 with no user', json({})],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(platforms('Fastify'))('a session in use on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  /** A cached session with a lifetime of ten seconds, refreshed in the last four of them. */
  async function inUse(renewal?: Script): Promise<CachingApp> {
    const trial = await cachingApp(
      bed,
      { refreshAheadMs: 4_000 },
      { options: { timeoutMs: totalTimeFor(renewal) } },
    );
    trial.service.on('user_details', json({ username: 'ann' }));
    await trial.status('/me', 'token');
    return trial;
  }

  /** Releases the answer in the background, and waits until it has arrived. */
  async function landed({ sessions }: CachingApp, held: HeldScript): Promise<unknown> {
    await held.arrived;
    const renewal = errorOf(sessions.verify('token', { maxAgeMs: 1 }));
    held.release();
    return renewal;
  }

  it('is refreshed in the background before it expires: no request waits for a slow service', async () => {
    const trial = await inUse();
    const { app, status, calls, holdBack } = trial;
    clock.advance(5_999);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 1]);

    clock.advance(1);
    const held = holdBack(json({ username: 'ann', role: 'boss' }));
    expect(await (await app.get('/me', 'token')).json()).toEqual({ username: 'ann' });
    await held.arrived;
    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 2]);

    expect(await landed(trial, held)).toBeUndefined();
    expect(await (await app.get('/me', 'token')).json()).toEqual({ username: 'ann', role: 'boss' });
    clock.advance(5_999);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('is ended by a refusal in the background', async () => {
    const trial = await inUse();
    clock.advance(6_000);
    const held = trial.holdBack(reply(401));
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, held)).toMatchObject({ statusCode: 401 });

    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([401, 2]);
  });

  it.each(FAILURES)('survives %s in the background until it expires', async (_outage, script) => {
    const trial = await inUse(script);
    clock.advance(6_000);
    const held = trial.holdBack(script);
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, held)).toMatchObject({ statusCode: 503 });

    expect(await trial.status('/me', 'token')).toBe(200);
    const calls = trial.calls();
    expect(callsIn(script)).toContain(calls);
    clock.advance(4_000);
    trial.service.on('user_details', reply(500));
    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([503, calls + 1]);
  });
});

const ANN = json({ username: 'ann' });
const OUTAGES: [string, Script][] = [
  ['500', reply(500)],
  ['429', reply(429)],
  ['404 with a body', reply(404, 'no such page')],
  ['200 with no user', json({})],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(platforms('Fastify'))('a session that expired in an outage on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  /**
   * A session cached for ten seconds has just expired, and the service fails. By the options it may be served
   * for five seconds more.
   */
  async function withExpiredSession(
    outage = reply(500),
    cache: Partial<SessionAuthCacheOptions> = { staleIfErrorMs: 5_000 },
  ): Promise<CachingApp> {
    const settings = { negativeTtlMs: 0, ...cache };
    const trial = await cachingApp(bed, settings, {
      controllers: [StaleController],
      options: { timeoutMs: totalTimeFor(outage) },
    });
    trial.service.on('user_details', ANN);
    await trial.status('/stale', 'token');
    clock.advance(10_000);
    trial.service.on('user_details', outage);
    return trial;
  }

  const staleness = async ({ app }: CachingApp): Promise<unknown> =>
    (await app.get('/stale', 'token')).json();

  it.each(OUTAGES)(
    'by %s is still admitted after a failed call, and the request is marked as stale',
    async (_outage, script) => {
      const trial = await withExpiredSession(script);

      expect(await staleness(trial)).toEqual({ stale: true });
      expect(callsIn(script)).toContain(trial.calls());
    },
  );

  it('is admitted for staleIfErrorMs and no longer', async () => {
    const { status } = await withExpiredSession();
    clock.advance(4_999);
    expect(await status('/stale', 'token')).toBe(200);

    clock.advance(1);
    expect(await status('/stale', 'token')).toBe(503);
  });

  it('is marked only while it is stale', async () => {
    const trial = await withExpiredSession();
    await staleness(trial);
    trial.service.on('user_details', ANN);
    expect(await staleness(trial)).toEqual({ stale: 'absent' });

    trial.service.on('user_details', reply(500));
    expect(await staleness(trial)).toEqual({ stale: 'absent' });
    expect(trial.calls()).toBe(3);
  });

  it('is still compared with the rules of each route', async () => {
    const { status } = await withExpiredSession();

    expect(await status('/boss', 'token')).toBe(403);
  });

  it('is admitted for every concurrent check', async () => {
    const { sessions, status, calls, holdBack } = await withExpiredSession();
    const held = holdBack(reply(500));
    const first = status('/stale', 'token');
    await held.arrived;
    const others = [sessions.verify('token'), sessions.verify('token')];
    const fresh = errorOf(sessions.verify('token', { maxAgeMs: 1 }));
    held.release();

    expect([await first, ...(await Promise.all(others))]).toMatchObject([
      200,
      { username: 'ann' },
      { username: 'ann' },
    ]);
    expect(await fresh).toMatchObject({ statusCode: 503 });
    expect(calls()).toBe(2);
  });

  it.each(['/fresh', '/recent'])('is not admitted to a route with a fresh check: %s', async (path) => {
    const { status, sessions } = await withExpiredSession();

    expect(await status(path, 'token')).toBe(503);
    for (const maxAgeMs of [0, 60_000]) {
      expect(await errorOf(sessions.verify('token', { maxAgeMs }))).toMatchObject({
        code: 'SESSION_SERVICE_UNAVAILABLE',
      });
    }
  });

  it.each<[string, (trial: CachingApp) => Promise<unknown>]>([
    [
      'a refusal',
      ({ service, status }) => (service.on('user_details', reply(401)), status('/stale', 'token')),
    ],
    ['a 403', ({ service, status }) => (service.on('user_details', reply(403)), status('/stale', 'token'))],
    ['a sign-out', ({ sessions }) => sessions.signOut('token')],
    [
      'a sign-out that fails',
      ({ service, sessions }) => (service.on('sign_out', reply(500)), errorOf(sessions.signOut('token'))),
    ],
    ['forget', ({ sessions }) => sessions.forget('token')],
  ])('is not admitted after %s', async (_case, end) => {
    const trial = await withExpiredSession();
    await end(trial);
    trial.service.on('user_details', reply(500));

    expect(await trial.status('/stale', 'token')).toBe(503);
  });

  it.each(['signOut', 'forget'] as const)('is not admitted if %s happens during the call', async (leave) => {
    const { sessions, status, holdBack } = await withExpiredSession();
    const held = holdBack(reply(500));
    const early = status('/stale', 'token');
    await held.arrived;
    await sessions[leave]('token');
    held.release();

    expect(await early).toBe(503);
  });
});
