import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { CurrentUser, OptionalAuth, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import { inLongForm } from '../support/long-form.js';
import { platforms } from '../support/platforms.js';
import { drop, json, reply, silence, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, cachingApp, type CachingApp } from '../support/caching-app.js';

@Controller()
@UseGuards(SessionAuthGuard)
class VisitorsController {
  @Get('visit')
  @OptionalAuth()
  visit(@CurrentUser() user: UserRecord | undefined): string {
    return user ? 'user' : 'visitor';
  }
}

/** Many times `maxEntries`. */
const FLOOD = inLongForm('2,600 of a flood of 3,000 refusals') ? 3_000 : 400;

const OUTAGES: [string, Script][] = [
  ['500', reply(500)],
  ['503', reply(503)],
  ['408', reply(408)],
  ['429', reply(429)],
  ['302', reply(302, '', { location: '/' })],
  ['202', reply(202, '{"username":"ann"}')],
  ['404 with a body', reply(404, 'no such page')],
  ['200 with no user', json({ role: 'boss' })],
  ['200 with half a body', reply(200, '{"username":', { 'content-type': 'application/json' })],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(platforms('Fastify'))('a refusal on %s', (_name, platform) => {
  const bed = testbed(platform);
  // Nothing expires, however busy the machine is.
  handClock();

  it('is not cached with `negativeTtlMs: 0`', async () => {
    const { status, calls } = await cachingApp(bed, { negativeTtlMs: 0 });
    await status('/me', 'bad');
    await status('/me', 'bad');

    expect(calls()).toBe(2);
  });

  it('makes the caller anonymous where the session is optional, without a call', async () => {
    const { app, status, calls } = await cachingApp(bed, {}, { controllers: [VisitorsController] });
    await status('/visit', 'bad');

    expect(await (await app.get('/visit', 'bad')).text()).toBe('visitor');
    expect(calls()).toBe(1);
  });

  it.each([
    [401, 401, 2],
    [403, 200, 3],
  ])('by status %p evicts the session: the next request gets %p', async (refusal, next, asked) => {
    const { service, status, calls, sessions } = await cachingApp(bed);
    service.on('user_details', json({ username: 'ann' }));
    await status('/me', 'token');
    service.on('user_details', reply(refusal));
    expect(await errorOf(sessions.verify('token', { maxAgeMs: 0 }))).toMatchObject({ statusCode: refusal });
    service.on('user_details', json({ username: 'ann' }));

    expect([await status('/me', 'token'), calls()]).toEqual([next, asked]);
  });

  it('of many tokens evicts no signed-in user, and `maxEntries` bounds the cached refusals', async () => {
    const { service, status, calls } = await cachingApp(
      bed,
      { maxEntries: 20 },
      { options: { timeoutMs: 60_000 } },
    );
    const token = service.signInAs({});
    await status('/me', token);
    const statuses = new Set<number>();
    const flood = Array.from({ length: FLOOD }, () => randomBytes(24).toString('base64url'));
    while (flood.length > 0) {
      const replies = await Promise.all(flood.splice(0, 100).map((bad) => status('/me', bad)));
      for (const code of replies) statuses.add(code);
    }
    expect([...statuses]).toEqual([401]);
    expect([await status('/me', token), calls()]).toEqual([200, FLOOD + 1]);
  });
});

describe.each(platforms('Fastify'))('an outage on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(OUTAGES)('by %s leaves a cached session as it was', async (_outage, script) => {
    const { service, status, calls, sessions } = await cachingApp(
      bed,
      {},
      { options: { timeoutMs: totalTimeFor(script) } },
    );
    const token = service.signInAs({});
    await status('/me', token);
    service.on('user_details', script);

    expect(await errorOf(sessions.verify(token, { maxAgeMs: 0 }))).toMatchObject({ statusCode: 503 });
    expect([await status('/me', token), calls()]).toEqual([200, 2]);
  });
});

const ANN = { username: 'ann', auth_token: 'token' };
const CREDENTIALS = { username: 'ann', password: 'x' };

describe.each(platforms('Fastify'))('a sign-in on %s', (_name, platform) => {
  const bed = testbed(platform);

  /** The service has refused the token, and a sign-in gives it from now on. */
  async function afterRefusal(headers?: Record<string, string>): Promise<CachingApp> {
    const trial = await cachingApp(bed);
    expect(await trial.status('/me', 'token', headers)).toBe(401);
    trial.service.on('user_details', json(ANN));
    trial.service.on('sign_in', json(ANN));
    return trial;
  }

  /** The service has received a check of the token, and will refuse it; a sign-in returns the token. */
  async function withRefusalInFlight() {
    const trial = await cachingApp(bed);
    const held = trial.holdBack(reply(401));
    const early = trial.status('/me', 'token');
    await held.arrived;
    trial.service.on('sign_in', json(ANN));
    return { ...trial, held, early };
  }

  it('voids a cached refusal of its token under every IV: the next request makes a call, and is let in', async () => {
    const headers = { 'x-auth-iv': 'iv-1' };
    const { sessions, status, calls } = await afterRefusal(headers);
    await sessions.signIn(CREDENTIALS);

    for (let time = 0; time < 2; time += 1)
      expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });

  it('voids a refusal that is in flight: later requests make a new call, and only the request that waits gets the refusal', async () => {
    const { service, sessions, status, calls, held, early } = await withRefusalInFlight();
    await sessions.signIn(CREDENTIALS);
    service.on('user_details', json(ANN));

    expect(await status('/me', 'token')).toBe(200);
    held.release();
    expect(await early).toBe(401);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it.each([
    ['gives another token', json({ ...ANN, auth_token: 'another' })],
    ['is answered 202', reply(202, JSON.stringify(ANN))],
    ['is refused', reply(401)],
  ])('that %s leaves the refusal of a token as it was', async (_case, script) => {
    const { service, sessions, status, calls } = await afterRefusal();
    service.on('sign_in', script);
    await errorOf(sessions.signIn(CREDENTIALS));

    expect([await status('/me', 'token'), calls()]).toEqual([401, 1]);
  });

  it('that returns a token which was signed out permits it to be cached again', async () => {
    const { service, sessions, status, calls } = await cachingApp(bed);
    service.on('user_details', json(ANN));
    service.on('sign_in', json(ANN));
    await sessions.signOut('token');
    await sessions.signIn(CREDENTIALS);

    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 1]);
  });

  it('caches no session: the first request with its token makes a call', async () => {
    const { service, sessions, status, calls } = await cachingApp(bed);
    service.on('sign_in', json(ANN));
    await sessions.signIn(CREDENTIALS);

    expect([await status('/me', 'token'), calls()]).toEqual([401, 1]);
  });
});
