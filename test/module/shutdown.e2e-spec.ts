import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { SessionAuthService, SessionServiceUnavailableError } from 'nestjs-session-auth';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { hold, json, silence } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

describe.each(PLATFORMS)('an application that closes on %s', (_name, platform) => {
  const bed = testbed(platform);
  const LONG = { timeoutMs: 300_000, signInTimeoutMs: 300_000, signOutTimeoutMs: 300_000 };

  it('answers the callers whose check is in flight with 503, and settles', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: LONG }));
    const asked = [app.get('/me', 'token-1', { connection: 'close' })];
    await held.arrived;
    await app.close();

    const [reply] = await Promise.all(asked);
    expect(reply?.status).toBe(503);
    expect(reply?.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('answers those who wait for their turn too', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: { ...LONG, maxInFlight: 1 } }));
    const sessions = app.app.get(SessionAuthService);
    const asked = Promise.allSettled(['a', 'b', 'c'].map((token) => sessions.verify(token)));
    await held.arrived;
    await app.close();

    for (const result of await asked) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_SERVICE_UNAVAILABLE', reason: 'shutting_down' } });
    }
    expect(service.callsTo('user_details')).toBe(1);
  });

  it.each(['sign_in', 'sign_out'] as const)('ends a %s in flight', async (operation) => {
    const service = await bed.service();
    const held = hold(silence);
    service.on(operation, held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: LONG }));
    const sessions = app.app.get(SessionAuthService);
    const call = operation === 'sign_in' ? sessions.signIn({ username: 'ann', password: 'x' }) : sessions.signOut('token');
    const outcome = call.catch((error: unknown) => error);
    await held.arrived;
    await app.close();

    expect(await outcome).toBeInstanceOf(SessionServiceUnavailableError);
    expect(await outcome).toMatchObject({ reason: 'shutting_down' });
  });

  it('leaves no connection to the service open', async () => {
    let asked = 0;
    const arrivals = new EventEmitter();
    const service = await bed.serviceThat(() => {
      asked += 1;
      if (asked === 3) arrivals.emit('all');
    });
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: LONG }));
    const sessions = app.app.get(SessionAuthService);
    const all = once(arrivals, 'all');
    const calls = [sessions.verify('token'), sessions.signIn({ username: 'ann', password: 'x' }), sessions.signOut('token')];
    const outcomes = Promise.allSettled(calls);
    await all;
    await app.close();

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await service.idle();
  });

  it('refuses what is asked afterwards, without a call to the service', async () => {
    const service = await bed.service();
    const app = await startApp(platform, sampleApp({ baseUrl: service.url }));
    const sessions = app.app.get(SessionAuthService);
    await app.close();

    await expect(sessions.verify('token')).rejects.toMatchObject({ reason: 'shutting_down' });
    await expect(sessions.signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({ reason: 'shutting_down' });
    await expect(sessions.signOut('token')).rejects.toMatchObject({ reason: 'shutting_down' });
    expect(service.requests).toHaveLength(0);
  });
});
