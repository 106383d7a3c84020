import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { CurrentUser, OptionalAuth, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
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

  it('voids a cached refusal of its token under every IV: the next request makes a call, and is let in', async () => {
    const headers = { 'x-auth-iv': 'iv-1' };
    const { sessions, status, calls } = await afterRefusal(headers);
    await sessions.signIn(CREDENTIALS);

    for (let time = 0; time < 2; time += 1)
      expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });
});
