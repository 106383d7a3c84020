import { expect, it } from '@jest/globals';
import { describeWithRedis } from '../support/redis.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { until } from '../support/until.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { expectAskedOnce, fleets } from './suites.js';

describeWithRedis('a store in a Redis Cluster of three nodes', () => {
  const start = fleets();

  /** A node has a subscriber before the instance has probed its connection, and takes messages. */
  async function allReceive(fleet: Fleet, cluster: RedisCluster, instances: readonly Instance[]) {
    const subscribed = async (): Promise<number> =>
      (await cluster.listeners(CHANNEL)).reduce((one, other) => one + other, 0);
    await until('all are subscribed', async () => (await subscribed()) === instances.length);
    await fleet.receiving(...instances);
  }

  async function expectDelivered(instances: readonly Instance[], token: string): Promise<void> {
    await instances[0]?.do('signOut', token);
    for (const instance of instances)
      await until('the sign-out is received', async () => (await instance.do('revocationsOf', token)) > 0);
  }

  it('answers for all after one call, and a sign-out reaches all; without a node the service decides, and the messages move to the others', async () => {
    const fleet = await start();
    const cluster = fleet.keep(await RedisCluster.start(3));
    const instances = await fleet.instances(3, { redis: { nodes: cluster.places } });
    await allReceive(fleet, cluster, instances);
    const tokens = Array.from({ length: 20 }, () => fleet.signIn());
    for (const token of tokens) await expectAskedOnce(fleet, instances, token, () => cluster.keys());
    for (const token of tokens) await expectDelivered(instances, token);

    const listeners = await cluster.listeners(CHANNEL);
    await cluster.kill(listeners.indexOf(Math.max(...listeners)));
    for (let index = 0; index < 30; index += 1) {
      const token = fleet.signIn();
      expect(await instances[0]?.status(token)).toBe(200);
      expect(await instances[0]?.status(`not-${token}`)).toBe(401);
    }
    await allReceive(fleet, cluster, instances);
    await expectDelivered(instances, fleet.signIn());
  });
});
