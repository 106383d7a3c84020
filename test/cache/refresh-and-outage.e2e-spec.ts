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
