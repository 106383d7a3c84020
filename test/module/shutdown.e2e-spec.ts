import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { SessionAuthService } from 'nestjs-session-auth';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { hold, json, silence } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

/** Why a call brought nothing. */
async function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => (error as { reason?: unknown }).reason,
  );
}

/** A call may take longer than what it gets when the application closes. */
const SHORT = { timeoutMs: 500, signInTimeoutMs: 300_000, signOutTimeoutMs: 300_000 };
const LONG = { timeoutMs: 300_000, signInTimeoutMs: 300_000, signOutTimeoutMs: 300_000 };

describe.each(PLATFORMS)('an application that closes on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('answers the callers whose check is in flight as ever, and settles', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: LONG }));
    const asked = app.get('/me', 'token-1', { connection: 'close' });
    await held.arrived;
    const closing = app.close();
    held.release();

    expect((await asked).status).toBe(200);
    await closing;
  });

  it('lets those who wait for their turn have it', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: { ...LONG, maxInFlight: 1 } }));
    const sessions = app.app.get(SessionAuthService);
    const asked = Promise.all(['a', 'b', 'c'].map((token) => sessions.verify(token)));
    await held.arrived;
    const closing = app.close();
    held.release();

    expect((await asked).map(({ username }) => username)).toEqual(['ann', 'ann', 'ann']);
    await closing;
  });

  it.each(['sign_in', 'sign_out', 'user_details'] as const)('ends a %s in flight after timeoutMs', async (operation) => {
    const service = await bed.service();
    const held = hold(silence);
    service.on(operation, held.script);
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: SHORT }));
    const sessions = app.app.get(SessionAuthService);
    const calls = {
      sign_in: () => sessions.signIn({ username: 'ann', password: 'x' }),
      sign_out: () => sessions.signOut('token'),
      user_details: () => sessions.verify('token'),
    };
    const outcome = reasonOf(calls[operation]());
    await held.arrived;
    await app.close();

    expect(['shutting_down', ...(operation === 'user_details' ? ['timeout'] : [])]).toContain(await outcome);
  });

  it('leaves no connection to the service open', async () => {
    let asked = 0;
    const arrivals = new EventEmitter();
    const service = await bed.serviceThat(() => {
      asked += 1;
      if (asked === 3) arrivals.emit('all');
    });
    const app = await startApp(platform, sampleApp({ baseUrl: service.url, options: SHORT }));
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
