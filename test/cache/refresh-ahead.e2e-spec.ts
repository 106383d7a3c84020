import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { drop, json, reply, silence, type HeldScript, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { totalTimeFor } from '../support/total-time.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, remembering, type Remembering } from '../support/caching-app.js';

const OUTAGES: [string, Script][] = [
  ['500', reply(500)],
  ['429', reply(429)],
  ['200 with no user', json({})],
  ['a reset', drop],
  ['silence', silence],
];

describe.each(PLATFORMS)('a session in use on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  /** A remembered session of ten seconds that is renewed in the last four of them. */
  async function inUse(renewal?: Script): Promise<Remembering> {
    const trial = await remembering(bed, { refreshAheadMs: 4_000 }, { options: { timeoutMs: totalTimeFor(renewal) } });
    trial.service.on('user_details', json({ username: 'ann' }));
    await trial.status('/me', 'token');
    return trial;
  }

  /** Lets the answer in the background go, and waits until it has arrived. */
  async function landed({ sessions }: Remembering, held: HeldScript): Promise<unknown> {
    await held.arrived;
    const renewal = errorOf(sessions.verify('token', { maxAgeMs: 1 }));
    held.release();
    return renewal;
  }

  it('is renewed in the background near its end: nobody waits, though the service holds its answer back', async () => {
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

  it('is not renewed while nobody uses it, and then asked about as any other', async () => {
    const { status, calls } = await inUse();
    clock.advance(9_999);
    expect(calls()).toBe(1);

    clock.advance(1);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('is ended by a refusal in the background', async () => {
    const trial = await inUse();
    clock.advance(6_000);
    const held = trial.holdBack(reply(401));
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, held)).toMatchObject({ statusCode: 401 });

    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([401, 2]);
  });

  it('is ended by a 403 in the background, which is not remembered', async () => {
    const trial = await inUse();
    clock.advance(6_000);
    const held = trial.holdBack(reply(403));
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, held)).toMatchObject({ statusCode: 403 });

    trial.service.on('user_details', json({ username: 'ann' }));
    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([200, 3]);
  });

  it.each(OUTAGES)('survives %s in the background until it lapses', async (_outage, script) => {
    const trial = await inUse(script);
    clock.advance(6_000);
    const held = trial.holdBack(script);
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, held)).toMatchObject({ statusCode: 503 });

    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([200, 2]);
    clock.advance(4_000);
    trial.service.on('user_details', reply(500));
    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([503, 3]);
  });

  it('is tried again after a while when the service was out', async () => {
    const trial = await inUse();
    clock.advance(6_000);
    const held = trial.holdBack(reply(500));
    await trial.status('/me', 'token');
    await landed(trial, held);
    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([200, 2]);

    clock.advance(1_000);
    const again = trial.holdBack(json({ username: 'ann' }));
    expect(await trial.status('/me', 'token')).toBe(200);
    expect(await landed(trial, again)).toBeUndefined();
    clock.advance(5_999);
    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([200, 3]);
  });

  it.each(['signOut', 'forget'] as const)('is not brought back by its renewal after %s', async (leave) => {
    const trial = await inUse();
    clock.advance(6_000);
    const held = trial.holdBack(json({ username: 'ann' }));
    await trial.status('/me', 'token');
    await held.arrived;
    await trial.sessions[leave]('token');
    trial.service.on('user_details', reply(401));
    held.release();

    expect([await trial.status('/me', 'token'), trial.calls()]).toEqual([401, 3]);
  });

  it('is not renewed ahead unless that was asked for', async () => {
    const { service, status, calls } = await remembering(bed);
    const token = service.signInAs({});
    await status('/me', token);
    clock.advance(9_999);

    expect([await status('/me', token), await status('/me', token), calls()]).toEqual([200, 200, 1]);
  });
});
