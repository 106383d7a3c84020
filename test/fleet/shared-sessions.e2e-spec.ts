import { expect, it } from '@jest/globals';
import { IsIn } from 'class-validator';
import { UserRecord } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { platforms, type Platform } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { StoreBed } from './store-bed.js';
import { expectAskedOnce, sharedFleet } from './suites.js';

describeWithRedis('the store of eight instances', () => {
  const shared = sharedFleet(8);

  it('answers for a session that one of them has checked', async () => {
    const fleet = shared();
    for (let count = 0; count < 20; count += 1) await expectAskedOnce(fleet, fleet.all, fleet.signIn());
  });

  it('returns the record to every instance as the service sent it, of up to 64 KiB', async () => {
    const fleet = shared();
    const [first, ...others] = fleet.all;
    const token = `${fleet.signIn()}/+of="zoe"`;
    const record = { username: 'zoë', role: 'hiring_manager', sub_role: 'r'.repeat(60_000) };
    fleet.signIn({ ...record, ccl_info: { ccl_name: 'ccl', ccl_id: 7 } }, token);

    const user: unknown = await (await first.get(token)).json();
    expect(user).toMatchObject({ username: 'zoë', role: 'hiring_manager' });
    await fleet.key('V');
    for (const other of others) expect(await (await other.get(token)).json()).toEqual(user);
    expect(fleet.asked).toBe(1);
  });
});

class StricterRecord extends UserRecord {
  @IsIn(['new']) readonly shape?: string;
}

describeWithRedis('another version of an application', () => {
  it.each(platforms('Fastify'))(
    'on %s names the field of a stored record that it does not accept',
    (_name: string, platform: Platform) =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json({ username: 'ann', shape: 'old' }));
        await bed.kept('token');
        bed.service.on('user_details', json({ username: 'ann', shape: 'new' }));
        const next = await bed.connectedApp({ options: { userRecord: StricterRecord } });
        expect((await next.get('/me', 'token')).status).toBe(200);
        expect(next.log.having('warn', 'invalid user record')).toEqual([
          expect.stringContaining(
            'cache.store has a record of another version, but shape must satisfy isIn. A call replaces it.',
          ),
        ]);
      }),
  );
});
