import { expect, it } from '@jest/globals';
import { json } from 'nestjs-session-auth/testing';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import type { Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { fleets, sharedFleet, TIMEOUT_MS } from './suites.js';

/** How often the scripts of the store were run. */
async function scriptRuns({ redis }: Fleet): Promise<number> {
  const statistics = await redis.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1] ?? 0);
}

/** The value that is there, if there is one. */
async function storedIn({ redis }: Fleet): Promise<string | undefined> {
  const [key] = await redis.keys('*');
  const value = key === undefined ? null : await redis.get(key);
  return value?.startsWith('V') ? value : undefined;
}

describeWithRedis('the memory that eight instances share', () => {
  const shared = sharedFleet(8);

  it(
    'has the service asked once for a token that all are asked about at the same moment, and then each answers from its own memory',
    async () => {
      const fleet = shared();
      const tokens = Array.from({ length: 20 }, (_, index) => fleet.signIn({ username: `user ${index}` }));
      for (const token of tokens) {
        const before = fleet.asked;
        const statuses = await Promise.all(fleet.all.map((instance) => instance.status(token)));
        expect([statuses, fleet.asked - before]).toEqual([Array(8).fill(200), 1]);
      }

      const runs = await scriptRuns(fleet);
      const again = await Promise.all(fleet.all.flatMap((instance) => tokens.map((token) => instance.status(token))));
      expect([new Set(again), fleet.asked, await scriptRuns(fleet)]).toEqual([new Set([200]), 20, runs]);
    },
    TIMEOUT_MS,
  );

  it('gives every instance the record as the service sent it', async () => {
    const fleet = shared();
    const [first, ...others] = fleet.all;
    const token = fleet.signIn({ username: 'zoë', role: 'hiring_manager', ccl_info: { ccl_name: 'ccl', ccl_id: 7 } }, 'a/token+of="zoe"');

    const user: unknown = await (await first.get(token)).json();
    expect(user).toMatchObject({ username: 'zoë', role: 'hiring_manager' });
    for (const other of others) expect(await (await other.get(token)).json()).toEqual(user);
    expect(fleet.asked).toBe(1);
  });

  it('leaves what an instance takes from it there for the rest of its lifetime alone', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const token = fleet.signIn();
    await one.status(token);
    await fleet.redis.pexpire(await fleet.key('V'), 5_000);

    expect([await other.status(token), fleet.asked]).toEqual([200, 1]);
    await until('the other instance asks the service', async () => (await other.status(token)) === 200 && fleet.asked === 2);
    // The first one asked for itself, and remembers for the whole lifetime.
    expect([await one.status(token), fleet.asked]).toEqual([200, 2]);
  });

  it('gives a session under one IV to no request with another IV, or with none', async () => {
    const fleet = shared();
    const [one, other, third] = fleet.all;
    fleet.service.on('user_details', (request, ...call) => {
      json({ username: `of ${String(request.headers['x-auth-iv'] ?? 'none')}` })(request, ...call);
    });
    const userOn = async (instance: Instance, authIv?: string): Promise<unknown> => {
      const [before, asked] = [await storedIn(fleet), fleet.asked];
      const { username } = (await (await instance.get('token-with-iv', authIv)).json()) as { username: string };
      if (fleet.asked > asked) await until('the answer is kept', async () => (await storedIn(fleet)) !== before);
      return [username, fleet.asked];
    };

    expect(await userOn(one, 'iv-1')).toEqual(['of iv-1', 1]);
    expect(await userOn(other, 'iv-1')).toEqual(['of iv-1', 1]);
    expect(await userOn(other, 'iv-2')).toEqual(['of iv-2', 2]);
    expect(await userOn(third)).toEqual(['of none', 3]);
    expect(await userOn(third, 'iv-2')).toEqual(['of iv-2', 4]);
  });

  it('keeps a record of 64 KiB, as much as the service may send', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const token = fleet.signIn({ username: 'u'.repeat(60_000) });
    await one.status(token);
    await fleet.key('V');
    expect([await other.status(token), fleet.asked]).toEqual([200, 1]);
  });
});

describeWithRedis('a session in use on several instances', () => {
  const start = fleets();

  it(
    'is renewed by one of them each time',
    async () => {
      const fleet = await start();
      const [ttlMs, refreshAheadMs] = [3_000, 1_500];
      const instances = await fleet.instances(4, { options: { cache: { ttlMs, refreshAheadMs } } });
      const token = fleet.signIn();
      const began = performance.now();
      await until('two renewals', async () => {
        const statuses = await Promise.all(instances.map((instance) => instance.status(token)));
        expect(new Set(statuses)).toEqual(new Set([200]));
        return fleet.asked >= 3;
      });
      expect(fleet.asked - 1).toBeLessThanOrEqual((performance.now() - began) / (ttlMs - refreshAheadMs));
    },
    TIMEOUT_MS,
  );
});
