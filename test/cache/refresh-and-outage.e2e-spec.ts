import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { FreshSession, SessionAuthGuard } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, cachingApp } from '../support/caching-app.js';

/** Routes that take a stale session, and routes that do not. */
@Controller()
@UseGuards(SessionAuthGuard)
class StaleController {
  @Get('stale')
  stale(@Req() request: { sessionIsStale?: unknown }): { stale: unknown } {
    return { stale: request.sessionIsStale ?? 'absent' };
  }

  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }

  @Get('recent')
  @FreshSession({ maxAgeMs: 60_000 })
  recent(): string {
    return 'in';
  }
}

const ANN = json({ username: 'ann' });

describe.each(platforms('Fastify'))('a cached session on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  it('is refreshed in the background before it expires: no request waits for a slow service', async () => {
    const { app, service, sessions, status, calls, holdBack } = await cachingApp(bed, {
      refreshAheadMs: 4_000,
    });
    service.on('user_details', ANN);
    await status('/me', 'token');
    clock.advance(5_999);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 1]);

    clock.advance(1);
    const held = holdBack(json({ username: 'ann', role: 'boss' }));
    expect(await (await app.get('/me', 'token')).json()).toEqual({ username: 'ann' });
    await held.arrived;
    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 2]);

    // Joins the refresh: it waits until it has landed.
    const renewal = sessions.verify('token', { maxAgeMs: 1 });
    held.release();
    await renewal;
    expect(await (await app.get('/me', 'token')).json()).toEqual({ username: 'ann', role: 'boss' });
    clock.advance(5_999);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('is admitted in an outage after it expired, and marked while it is stale, but not to a fresh route', async () => {
    const { app, service, sessions, status, calls } = await cachingApp(
      bed,
      { staleIfErrorMs: 5_000 },
      { controllers: [StaleController] },
    );
    const staleness = async (): Promise<unknown> => (await app.get('/stale', 'token')).json();
    service.on('user_details', ANN);
    await status('/stale', 'token');
    clock.advance(10_000);
    service.on('user_details', reply(500));
    expect([await staleness(), calls()]).toEqual([{ stale: true }, 2]);
    expect([await status('/fresh', 'token'), await status('/recent', 'token')]).toEqual([503, 503]);
    expect(await errorOf(sessions.verify('token', { maxAgeMs: 60_000 }))).toMatchObject({
      code: 'SESSION_SERVICE_UNAVAILABLE',
    });

    service.on('user_details', ANN);
    expect(await staleness()).toEqual({ stale: 'absent' });
    service.on('user_details', reply(500));
    expect(await staleness()).toEqual({ stale: 'absent' });
  });
});
