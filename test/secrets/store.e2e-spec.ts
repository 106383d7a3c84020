import { expect, it } from '@jest/globals';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import type { Fleet } from '../fleet/fleet.js';
import type { Instance } from '../fleet/instance.js';
import { fleets } from '../fleet/suites.js';

const [OLD, NEW] = ['the old secret of the store', 'the new secret of the store'];

describeWithRedis('the secret of a store', () => {
  const start = fleets();

  async function withSecrets(
    fleet: Fleet,
    ...secrets: (string | string[] | undefined)[]
  ): Promise<Instance[]> {
    const started = secrets.map((secret, index) =>
      fleet.instance({
        platform: index % 2 ? 'Fastify' : 'Express',
        store: secret === undefined ? {} : { secret },
      }),
    );
    const instances = await Promise.all(started);
    await fleet.receiving(...instances);
    return instances;
  }

  async function rotate(fleet: Fleet, instances: Instance[], calls: number): Promise<void> {
    for (const order of [instances, [...instances].reverse()]) {
      const before = fleet.asked;
      const token = fleet.signIn();
      for (const instance of order) {
        expect(await instance.status(token)).toBe(200);
        await until('the answer is kept', async () => (await valuesIn(fleet)) > 0);
      }
      expect(fleet.asked - before).toBeLessThanOrEqual(calls);
      fleet.revoke(token);
      expect(await order[0]?.do('signOut', token)).toBe('done');
      for (const instance of instances) {
        await until('it denies', async () => (await instance.status(token)) === 401);
        expect(await instance.do('revocationsOf', token)).toBe(1);
      }
      await fleet.redis.flushall();
    }
  }

  async function valuesIn({ redis }: Fleet): Promise<number> {
    const values = await Promise.all((await redis.keys('*')).map((key) => redis.getrange(key, 0, 0)));
    return values.filter((value) => value === 'V').length;
  }

  it('is rotated without a second call, while one instance after the other takes each step, and a sign-out reaches all', async () => {
    const fleet = await start();
    const steps = await withSecrets(fleet, OLD, [OLD, NEW], [NEW, OLD], NEW);
    for (let step = 1; step < steps.length; step += 1)
      await rotate(fleet, steps.slice(step - 1, step + 1), 1);
    // Where steps were left out, each of the two secrets costs one question.
    await rotate(fleet, steps.slice(1), 2);
  });

  it('is derived from the application key where none is given, so that other keys share nothing', async () => {
    const fleet = await start();
    const [one, other] = await withSecrets(fleet, undefined, undefined);
    const stranger = await fleet.instance({ options: { apiKey: 'another-key' } });
    const token = fleet.signIn();
    expect([await one?.status(token), await fleet.key('V'), await other?.status(token), fleet.asked]).toEqual(
      [200, expect.any(String), 200, 1],
    );
    expect([await stranger.status(token), fleet.asked]).toEqual([200, 2]);
  });
});
