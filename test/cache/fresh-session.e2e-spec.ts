import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { FreshController, HandlerController, OpenController } from './fresh-controllers.js';
import { handClock } from '../support/hand-clock.js';
import { errorOf, remembering, type Remembering } from '../support/caching-app.js';

describe.each(PLATFORMS)('@FreshSession on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  async function remembered(): Promise<Remembering> {
    const trial = await remembering(bed, {}, { controllers: [MeController, HandlerController, FreshController, OpenController] });
    trial.service.on('user_details', json({ username: 'ann', role: 'clerk' }));
    await trial.status('/me', 'token');
    return trial;
  }

  it.each(['/handler/fresh', '/all/fresh', '/all/roles', '/open/fresh'])('asks the service each time: %s', async (path) => {
    const { service, status, calls } = await remembered();
    expect([await status(path, 'token'), await status(path, 'token'), calls()]).toEqual([200, 200, 3]);

    service.on('user_details', reply(401));
    expect(await status(path, 'token')).toBe(401);
  });

  it.each(['/handler/recent', '/all/recent'])('with maxAgeMs takes what was confirmed within that time: %s', async (path) => {
    const { status, calls } = await remembered();
    const asked: number[] = [];
    for (const ms of [0, 2_999, 1, 2_999, 1]) {
      clock.advance(ms);
      await status(path, 'token');
      asked.push(calls());
    }

    expect(asked).toEqual([1, 1, 2, 2, 3]);
  });

  it('with a maxAgeMs above the lifetime makes nothing live longer', async () => {
    const { status, calls } = await remembered();
    clock.advance(9_999);
    expect([await status('/handler/long', 'token'), calls()]).toEqual([200, 1]);

    clock.advance(1);
    expect([await status('/handler/long', 'token'), calls()]).toEqual([200, 2]);
  });

  it('closes a handler of a @Public() controller, and leaves the others open', async () => {
    const { status, calls } = await remembered();

    expect([await status('/open/fresh'), await status('/open/public'), calls()]).toEqual([401, 200, 1]);
  });

  it('stands beside other rules: both must hold', async () => {
    const { status, calls } = await remembered();

    expect([await status('/handler/boss', 'token'), calls()]).toEqual([403, 2]);
  });

  it('is confirmed for the other routes, too', async () => {
    const { status, calls } = await remembered();
    clock.advance(9_000);
    await status('/handler/fresh', 'token');
    clock.advance(9_999);

    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('does not take a remembered refusal for an answer', async () => {
    const { service, status, calls } = await remembered();
    service.on('user_details', reply(401));
    await status('/handler/fresh', 'token');
    expect([await status('/me', 'token'), await status('/handler/fresh', 'token'), calls()]).toEqual([401, 401, 3]);

    service.on('user_details', json({ username: 'ann' }));
    expect([await status('/handler/fresh', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 4]);
  });

  it('joins no call that was under way before, by the guard and in code', async () => {
    const { service, sessions, status, calls, holdBack } = await remembered();
    const held = holdBack(json({ username: 'ann', role: 'boss' }));
    const first = status('/handler/fresh', 'token');
    await held.arrived;
    service.on('user_details', reply(401));
    const others = Array.from({ length: 5 }, () => errorOf(sessions.verify('token', { maxAgeMs: 0 })));
    expect((await Promise.all(others)).map((error) => (error as { code: string }).code)).toEqual(Array(5).fill('SESSION_REJECTED'));
    held.release();

    expect(await first).toBe(200);
    expect([await status('/me', 'token'), calls()]).toEqual([401, 7]);
  });

  it('has its match in code: verify() with maxAgeMs', async () => {
    const { service, sessions, calls } = await remembered();
    clock.advance(2_999);
    await sessions.verify('token', { maxAgeMs: 3_000 });
    expect(calls()).toBe(1);

    clock.advance(1);
    service.on('user_details', reply(401));
    await sessions.verify('token');
    expect(await errorOf(sessions.verify('token', { maxAgeMs: 3_000 }))).toMatchObject({ code: 'SESSION_REJECTED' });
    expect(calls()).toBe(2);
  });
});
