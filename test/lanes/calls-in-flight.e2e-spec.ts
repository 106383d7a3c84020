import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { SILENCE_MS } from '../support/total-time.js';
import { hold, json, silence } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const ANN = json({ username: 'ann' });

describe.each(PLATFORMS)('the bound on calls in flight on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('answers the next caller 503 with `Retry-After: 1` when no place is left, in flight or in the queue', async () => {
    const service = await bed.service();
    const held = hold(ANN);
    service.on('user_details', held.script);
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 1, maxQueued: 0, timeoutMs: 60_000 } });
    const first = app.get('/me', 'token-1');
    await held.arrived;
    const next = await app.get('/me', 'token-2');

    expect(next.status).toBe(503);
    expect(next.headers.get('retry-after')).toBe('1');
    expect(next.headers.get('cache-control')).toBe('no-store');
    held.release();
    expect((await first).status).toBe(200);
    expect(service.callsTo('user_details')).toBe(1);
    expect((await app.get('/me', 'token-2')).status).toBe(200);
  });

  it('takes no second place for a second caller with the same token', async () => {
    const service = await bed.service();
    const held = hold(ANN);
    service.on('user_details', held.script);
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 1, maxQueued: 0, timeoutMs: 60_000 } });
    const sessions = app.app.get(SessionAuthService);
    const asked = [sessions.verify('token'), sessions.verify('token')];
    await held.arrived;
    held.release();

    expect((await Promise.all(asked)).map(({ username }) => username)).toEqual(['ann', 'ann']);
  });

  it('serves those who wait in the order in which they came', async () => {
    const service = await bed.service();
    const held = hold(ANN);
    service.on('user_details', held.script);
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 1, maxQueued: 3, timeoutMs: 60_000 } });
    const sessions = app.app.get(SessionAuthService);
    const asked = ['a', 'b', 'c', 'd'].map((token) => sessions.verify(token));
    await expect(sessions.verify('e')).rejects.toMatchObject({ reason: 'busy', retryAfterSeconds: 1 });
    held.release();
    await Promise.all(asked);

    expect(service.requests.map(({ headers }) => headers['x-auth-token'])).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is never passed, and everybody who waits is served', async () => {
    const service = await bed.service();
    const inFlight = { now: 0, most: 0 };
    service.on('user_details', (...call) => {
      inFlight.now += 1;
      inFlight.most = Math.max(inFlight.most, inFlight.now);
      setImmediate(() => {
        inFlight.now -= 1;
        ANN(...call);
      });
    });
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 8, timeoutMs: 60_000 } });
    const replies = await Promise.all(Array.from({ length: 200 }, (_, index) => app.get('/me', `token-${index}`)));

    expect(replies.map(({ status }) => status)).toEqual(Array(200).fill(200));
    expect(inFlight.most).toBeLessThanOrEqual(8);
  });

  it('lets nobody wait longer than the total time, and gives the places back', async () => {
    const service = await bed.service();
    service.on('user_details', silence);
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 1, maxQueued: 5, timeoutMs: SILENCE_MS } });
    const replies = await Promise.all(['a', 'b', 'c'].map((token) => app.get('/me', token)));

    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503]);
    service.on('user_details', ANN);
    expect((await app.get('/me', 'd')).status).toBe(200);
  });

  it('does not hold up a sign-in', async () => {
    const service = await bed.service();
    const held = hold(ANN);
    service.on('user_details', held.script);
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const app = await bed.sample({ baseUrl: service.url, options: { maxInFlight: 1, maxQueued: 0, timeoutMs: 60_000 } });
    const check = app.get('/me', 'token-1');
    await held.arrived;

    expect(await app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' })).toMatchObject({ kind: 'signed-in' });
    held.release();
    expect((await check).status).toBe(200);
  });
});
