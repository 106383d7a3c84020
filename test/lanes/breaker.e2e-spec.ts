import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { handClock } from '../support/hand-clock.js';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { drop, hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const ANN = json({ username: 'ann' });
const NO_RETRY = { retry: false } as const;

describe.each(oneOf(PLATFORMS))('the circuit to the session service on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  async function statusesOf(app: RunningApp, calls: number, prefix = 'token'): Promise<number[]> {
    const statuses: number[] = [];
    for (let call = 0; call < calls; call += 1) statuses.push((await app.get('/me', `${prefix}-${call}`)).status);
    return statuses;
  }

  it.each<[string, Script]>([
    ['errors', reply(500, '<html>')],
    ['dropped connections', drop],
    ['errors that are answered in time', reply(408)],
  ])('opens after a run of %s: 503 without a call, with the time that remains', async (_fault, script) => {
    const service = await bed.service();
    service.on('user_details', script);
    const app = await bed.sample({ baseUrl: service.url, options: { ...NO_RETRY, breaker: { pauseMs: 7_000 } } });
    expect(await statusesOf(app, 20)).toEqual(Array(20).fill(503));
    const refused = await app.get('/me', 'token');

    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('7');
    expect(service.callsTo('user_details')).toBe(20);
    clock.advance(3_500);
    expect((await app.get('/me', 'token')).headers.get('retry-after')).toBe('4');
  });

  it('lets one probe through after its pause: the others get 503 meanwhile, and all are served when it succeeds', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    const app = await bed.sample({ baseUrl: service.url, options: { ...NO_RETRY, breaker: { pauseMs: 1_000 } } });
    await statusesOf(app, 20);
    const held = hold(ANN);
    service.on('user_details', held.script);
    clock.advance(1_000);
    const probe = app.get('/me', 'probe');
    await held.arrived;
    const others = await Promise.all(Array.from({ length: 99 }, (_, index) => app.get('/me', `other-${index}`)));

    expect(others.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(Array(99).fill([503, '1']));
    expect(service.callsTo('user_details')).toBe(21);
    held.release();
    expect((await probe).status).toBe(200);
    service.on('user_details', ANN);
    expect(await statusesOf(app, 3, 'later')).toEqual([200, 200, 200]);
  });

  it('pauses twice as long when the probe fails', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    const app = await bed.sample({ baseUrl: service.url, options: { ...NO_RETRY, breaker: { pauseMs: 2_000 } } });
    await statusesOf(app, 20);
    clock.advance(2_000);
    expect((await app.get('/me', 'probe')).status).toBe(503);

    expect((await app.get('/me', 'token')).headers.get('retry-after')).toBe('4');
    expect(service.callsTo('user_details')).toBe(21);
  });

  it.each<[string, Script, number]>([
    ['401', reply(401), 401],
    ['403', reply(403), 403],
    ['400', reply(400), 401],
    ['404', reply(404), 401],
    ['404 with a body', reply(404, 'no such page'), 503],
    ['429', reply(429), 503],
    ['431', reply(431), 503],
    ['200 and no user', json({}), 503],
  ])('stays closed however many tokens are answered with %s', async (_status, script, status) => {
    const service = await bed.service();
    service.on('user_details', script);
    const app = await bed.sample({ baseUrl: service.url });
    expect(await statusesOf(app, 100)).toEqual(Array(100).fill(status));
    service.on('user_details', ANN);

    expect((await app.get('/me', 'ann')).status).toBe(200);
  });

  it('does not bar a sign-in or a sign-out', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const app = await bed.sample({ baseUrl: service.url, options: NO_RETRY });
    await statusesOf(app, 25);
    const sessions = app.app.get(SessionAuthService);

    await expect(sessions.signIn({ username: 'ann', password: 'x' })).resolves.toMatchObject({ kind: 'signed-in' });
    await expect(sessions.signOut('token')).resolves.toBeUndefined();
    expect(service.callsTo('user_details')).toBe(20);
  });

  it('never opens when it is off, and retries stay below a tenth of the calls', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    const app = await bed.sample({ baseUrl: service.url, options: { breaker: false, timeoutMs: 60_000 } });
    const replies = await Promise.all(Array.from({ length: 300 }, (_, index) => app.get('/me', `token-${index}`)));

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
    expect(service.callsTo('user_details')).toBeGreaterThanOrEqual(300);
    expect(service.callsTo('user_details')).toBeLessThanOrEqual(334);
  });
});
