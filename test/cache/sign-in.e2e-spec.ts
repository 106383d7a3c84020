import { describe, expect, it } from '@jest/globals';
import { PLATFORMS } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { errorOf, remembering, type Remembering } from '../support/caching-app.js';

const ANN = { username: 'ann', auth_token: 'token' };
const CREDENTIALS = { username: 'ann', password: 'x' };

describe.each(PLATFORMS)('a sign-in on %s', (_name, platform) => {
  const bed = testbed(platform);

  /** The service has refused the token, and a sign-in gives it from now on. */
  async function afterRefusal(headers?: Record<string, string>): Promise<Remembering> {
    const trial = await remembering(bed);
    expect(await trial.status('/me', 'token', headers)).toBe(401);
    trial.service.on('user_details', json(ANN));
    trial.service.on('sign_in', json(ANN));
    return trial;
  }

  it.each([
    ['', {}],
    [', under whatever IV that was', { 'x-auth-iv': 'iv-1' }],
  ])('makes a refusal of its token void%s: the next request asks, and is let in', async (_case, headers: Record<string, string>) => {
    const { sessions, status, calls } = await afterRefusal(headers);
    await sessions.signIn(CREDENTIALS);

    expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
    expect([await status('/me', 'token', headers), calls()]).toEqual([200, 2]);
  });

  it('outruns a refusal that is in flight: who comes afterwards asks anew, and the refusal counts for nobody else', async () => {
    const { service, sessions, status, calls, holdBack } = await remembering(bed);
    const held = holdBack(reply(401));
    const early = status('/me', 'token');
    await held.arrived;
    service.on('sign_in', json(ANN));
    await sessions.signIn(CREDENTIALS);
    service.on('user_details', json(ANN));

    expect(await status('/me', 'token')).toBe(200);
    held.release();
    expect(await early).toBe(401);
    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('makes a refusal void that arrives after it and before anybody else has come', async () => {
    const { service, sessions, status, calls, holdBack } = await remembering(bed);
    const held = holdBack(reply(401));
    const early = status('/me', 'token');
    await held.arrived;
    service.on('sign_in', json(ANN));
    await sessions.signIn(CREDENTIALS);
    held.release();
    expect(await early).toBe(401);
    service.on('user_details', json(ANN));

    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('makes void a refusal that arrives while it is in flight', async () => {
    const { service, sessions, status, calls, holdBack } = await remembering(bed);
    const held = holdBack(reply(401));
    const early = status('/me', 'token');
    await held.arrived;
    service.on('sign_in', (...call) => {
      held.release();
      void early.then(() => json(ANN)(...call));
    });
    await sessions.signIn(CREDENTIALS);
    service.on('user_details', json(ANN));

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

  it('that gives a token which was signed out lets it be remembered again', async () => {
    const { service, sessions, status, calls } = await remembering(bed);
    service.on('user_details', json(ANN));
    service.on('sign_in', json(ANN));
    await sessions.signOut('token');
    await sessions.signIn(CREDENTIALS);

    expect([await status('/me', 'token'), await status('/me', 'token'), calls()]).toEqual([200, 200, 1]);
  });

  it('by itself makes nobody remembered: the first request of its token asks', async () => {
    const { service, sessions, status, calls } = await remembering(bed);
    service.on('sign_in', json(ANN));
    await sessions.signIn(CREDENTIALS);

    expect([await status('/me', 'token'), calls()]).toEqual([401, 1]);
  });
});
