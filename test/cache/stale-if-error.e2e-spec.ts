import { describe, expect, it } from '@jest/globals';
import type { SessionAuthCacheOptions } from 'nestjs-session-auth';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, remembering, type Remembering } from '../support/caching-app.js';
import { StaleController } from './stale-controller.js';

const ANN = json({ username: 'ann' });
const OUTAGES: [string, Script][] = [
  ['500', reply(500)],
  ['429', reply(429)],
  ['404 with a body', reply(404, 'no such page')],
  ['200 with no user', json({})],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(oneOf(PLATFORMS))('a session that lapsed in an outage on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  /** A session of ten seconds has just lapsed, and the service is out; by the options it is good for five seconds more. */
  async function lapsed(outage = reply(500), cache: Partial<SessionAuthCacheOptions> = { staleIfErrorMs: 5_000 }): Promise<Remembering> {
    const settings = { negativeTtlMs: 0, ...cache };
    const trial = await remembering(bed, settings, { controllers: [StaleController], options: { timeoutMs: totalTimeFor(outage) } });
    trial.service.on('user_details', ANN);
    await trial.status('/stale', 'token');
    clock.advance(10_000);
    trial.service.on('user_details', outage);
    return trial;
  }

  const staleness = async ({ app }: Remembering): Promise<unknown> => (await app.get('/stale', 'token')).json();

  it.each(OUTAGES)('by %s still enters, after the service was asked, and the request is marked', async (_outage, script) => {
    const trial = await lapsed(script);

    expect(await staleness(trial)).toEqual({ stale: true });
    expect(trial.calls()).toBe(2);
  });

  it('enters for staleIfErrorMs and no longer', async () => {
    const { status } = await lapsed();
    clock.advance(4_999);
    expect(await status('/stale', 'token')).toBe(200);

    clock.advance(1);
    expect(await status('/stale', 'token')).toBe(503);
  });

  it('is marked only while it is stale', async () => {
    const trial = await lapsed();
    await staleness(trial);
    trial.service.on('user_details', ANN);
    expect(await staleness(trial)).toEqual({ stale: 'absent' });

    trial.service.on('user_details', reply(500));
    expect(await staleness(trial)).toEqual({ stale: 'absent' });
    expect(trial.calls()).toBe(3);
  });

  it('still meets the rules of each route', async () => {
    const { status } = await lapsed();

    expect(await status('/boss', 'token')).toBe(403);
  });

  it('enters for every one of those who ask together', async () => {
    const { sessions, status, calls, holdBack } = await lapsed();
    const held = holdBack(reply(500));
    const first = status('/stale', 'token');
    await held.arrived;
    const others = [sessions.verify('token'), sessions.verify('token')];
    const fresh = errorOf(sessions.verify('token', { maxAgeMs: 1 }));
    held.release();

    expect([await first, ...(await Promise.all(others))]).toMatchObject([200, { username: 'ann' }, { username: 'ann' }]);
    expect(await fresh).toMatchObject({ statusCode: 503 });
    expect(calls()).toBe(2);
  });

  it.each(['/fresh', '/recent'])('does not enter where it must be sure: %s', async (path) => {
    const { status, sessions } = await lapsed();

    expect(await status(path, 'token')).toBe(503);
    for (const maxAgeMs of [0, 60_000]) {
      expect(await errorOf(sessions.verify('token', { maxAgeMs }))).toMatchObject({ code: 'SESSION_SERVICE_UNAVAILABLE' });
    }
  });

  it('is nobody that was not confirmed before: neither another token, nor the same under another IV', async () => {
    const { status } = await lapsed();

    expect(await status('/stale', 'another')).toBe(503);
    expect(await status('/stale', 'token', { 'x-auth-iv': 'iv-1' })).toBe(503);
    expect(await status('/stale', 'token')).toBe(200);
  });

  it.each<[string, (trial: Remembering) => Promise<unknown>]>([
    ['a refusal', ({ service, status }) => (service.on('user_details', reply(401)), status('/stale', 'token'))],
    ['a 403', ({ service, status }) => (service.on('user_details', reply(403)), status('/stale', 'token'))],
    ['a sign-out', ({ sessions }) => sessions.signOut('token')],
    ['a sign-out that fails', ({ service, sessions }) => (service.on('sign_out', reply(500)), errorOf(sessions.signOut('token')))],
    ['forget', ({ sessions }) => sessions.forget('token')],
  ])('does not enter after %s', async (_case, end) => {
    const trial = await lapsed();
    await end(trial);
    trial.service.on('user_details', reply(500));

    expect(await trial.status('/stale', 'token')).toBe(503);
  });

  it.each(['signOut', 'forget'] as const)('does not enter when %s comes while it is asked about', async (leave) => {
    const { sessions, status, holdBack } = await lapsed();
    const held = holdBack(reply(500));
    const early = status('/stale', 'token');
    await held.arrived;
    await sessions[leave]('token');
    held.release();

    expect(await early).toBe(503);
  });

  it('does not enter unless that was asked for', async () => {
    const { status } = await lapsed(reply(500), {});

    expect(await status('/stale', 'token')).toBe(503);
  });
});
