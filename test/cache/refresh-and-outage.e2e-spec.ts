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

  it('is marked only while it is stale', async () => {
    const trial = await withExpiredSession();
    await staleness(trial);
    trial.service.on('user_details', ANN);
    expect(await staleness(trial)).toEqual({ stale: 'absent' });

    trial.service.on('user_details', reply(500));
    expect(await staleness(trial)).toEqual({ stale: 'absent' });
    expect(trial.calls()).toBe(3);
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
});
