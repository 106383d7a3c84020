import { describe, expect, it } from '@jest/globals';
import { SessionAuthService, type SessionAuthOptions } from 'nestjs-session-auth';
import { type SessionSocketOptions } from 'nestjs-session-auth/sockets';
import type { RunningApp } from '../support/platforms.js';
import { hold, json, reply } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { gatewayBed } from './gateway-bed.js';
import { SOCKET_LIBRARIES, type Peer } from './peers.js';

const NEVER_MS = 3_600_000;
const SOON_MS = 10;

describe.each(SOCKET_LIBRARIES)('sockets of %s that are watched', (...library) => {
  const bed = gatewayBed(library);

  function start(
    watch: SessionSocketOptions,
    options: Partial<SessionAuthOptions> = {},
  ): Promise<RunningApp> {
    bed.plan.watch = watch;
    return bed.start({ retry: false, breaker: false, ...options });
  }

  const connectWith = (token: string): Promise<Peer> => bed.connect({ headers: { 'x-auth-token': token } });

  const checks = (): number => bed.service.callsTo('user_details');
  const checkedAgain = async (times: number): Promise<void> => {
    const before = checks();
    await until(`${times} checks`, () => checks() >= before + times);
  };

  it('are closed if a later check is refused', async () => {
    await start({ recheckMs: SOON_MS });
    const token = bed.service.signInAs({});
    const peer = await connectWith(token);
    await checkedAgain(3);
    bed.service.revoke(token);

    expect(await peer.ended()).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
  });

  it('of one session share each recheck, and are all closed if it is refused [P30]', async () => {
    const recheckMs = 500;
    await start({ recheckMs });
    const token = bed.service.signInAs({});
    const peers = await Promise.all(Array.from({ length: 60 }, () => connectWith(token)));
    await checkedAgain(1);
    const startMs = performance.now();
    await checkedAgain(3);
    expect(performance.now() - startMs).toBeGreaterThan(3 * 0.9 * recheckMs - 100);
    bed.service.revoke(token);

    for (const peer of peers)
      expect(await peer.ended()).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
  });

  it('have the user of the last check', async () => {
    await start({ recheckMs: SOON_MS });
    const token = bed.service.signInAs({ username: 'ann' });
    const peer = await connectWith(token);
    bed.service.signInAs({ username: 'ann-marie' }, token);

    await until('the new name', async () => (await peer.ask('user-of-socket'))[1] === 'ann-marie');
  });

  it('are all closed at once when their session is signed out, and no others', async () => {
    const { app } = await start({ recheckMs: NEVER_MS });
    const [token, other] = [bed.service.signInAs({}), bed.service.signInAs({})];
    const [first, second, third] = [
      await connectWith(token),
      await connectWith(token),
      await connectWith(other),
    ];
    await app.get(SessionAuthService).signOut(token);

    for (const peer of [first, second])
      expect(await peer.ended()).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
    expect(await third.ask('user-of-socket')).toEqual(['answer', 'ann']);
  });

  it('do not open if the session is signed out during its first check', async () => {
    const held = hold(json({ username: 'ann' }));
    bed.service.on('user_details', held.script);
    const { app } = await start({ recheckMs: NEVER_MS });
    const denied = connectWith('some-token').catch((error: unknown) => error);
    await held.arrived;
    await app.get(SessionAuthService).signOut('some-token');
    held.release();

    expect(await denied).toMatchObject({ denial: { statusCode: 401 } });
    expect(bed.plan.connected).toBe(0);
  });

  it.each([
    [0, 'at once'],
    [50, 'after the grace'],
  ])('are ended by an outage that lasts longer than %i ms', async (outageGraceMs) => {
    await start({ recheckMs: SOON_MS, outageGraceMs });
    const peer = await connectWith(bed.service.signInAs({}));
    bed.service.on('user_details', reply(500));

    expect(await peer.ended()).toMatchObject({ statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE' });
  });
});
