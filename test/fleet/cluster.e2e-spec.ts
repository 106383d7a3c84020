import { expect, it, describe } from '@jest/globals';
import { SessionAuthEvents } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { describeWithRedis } from '../support/redis.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { until } from '../support/until.js';
import { platforms } from '../support/platforms.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { expectAskedOnce, fleets } from './suites.js';
import { StoreBed } from './store-bed.js';

const sum = (counts: number[]): number => counts.reduce((one, other) => one + other, 0);

describeWithRedis('a store in a Redis Cluster of three nodes', () => {
  const start = fleets();

  async function clustered(
    fleet: Fleet,
    options: { keyPrefix?: string },
  ): Promise<{ cluster: RedisCluster; instances: Instance[] }> {
    const cluster = fleet.keep(await RedisCluster.start(3));
    const redis = { nodes: cluster.places, options };
    const platforms = ['Express', 'Fastify', 'Express'] as const;
    const instances = await Promise.all(platforms.map((platform) => fleet.instance({ redis, platform })));
    await allReceive(fleet, cluster, instances);
    return { cluster, instances };
  }

  async function expectShared(fleet: Fleet, cluster: RedisCluster, instances: Instance[]): Promise<void> {
    const tokens = Array.from({ length: 20 }, () => fleet.signIn());
    for (const token of tokens) await expectAskedOnce(fleet, instances, token, () => cluster.keys());
    for (const token of tokens) {
      fleet.revoke(token);
      await instances[0]?.do('signOut', token);
    }
    for (const instance of instances) {
      for (const token of tokens)
        await until(
          'its revocation is emitted',
          async () => (await instance.do('revocationsOf', token)) === 1,
        );
    }
  }

  it('answers for all after one call, and a sign-out reaches all; without a node the service decides, and the messages move to the others', async () => {
    const fleet = await start();
    const { cluster, instances } = await clustered(fleet, {});
    await expectShared(fleet, cluster, instances);

    const listeners = await cluster.listeners(CHANNEL);
    await cluster.kill(listeners.indexOf(Math.max(...listeners)));
    await expectServiceDecides(fleet, instances[0]);
    await allReceive(fleet, cluster, instances);
    await expectDelivered(fleet, instances);
  });

  it('delivers a sign-out, whichever node is gone', async () => {
    for (const gone of [0, 1, 2]) {
      const fleet = await start();
      const { cluster, instances } = await clustered(fleet, {});
      await cluster.kill(gone);
      await allReceive(fleet, cluster, instances);
      await expectDelivered(fleet, instances);
    }
  });

  it('answers for all after one call with a prefix of all keys too', async () => {
    const fleet = await start();
    const { cluster, instances } = await clustered(fleet, { keyPrefix: 'application:' });
    await expectShared(fleet, cluster, instances);
    const keys = await cluster.keys();
    expect(keys.filter((key) => key.startsWith('application:session-auth:'))).toEqual(keys);
  });
});

/**
 * Waits until each instance receives: a node has a subscriber before the instance has probed its connection,
 * and until then the instance takes no message, and checks every session again.
 */
async function allReceive(
  fleet: Fleet,
  cluster: RedisCluster,
  instances: readonly Instance[],
): Promise<void> {
  await until('all are subscribed', async () => sum(await cluster.listeners(CHANNEL)) === instances.length);
  await fleet.receiving(...instances);
}

async function expectDelivered(fleet: Fleet, instances: readonly Instance[]): Promise<void> {
  const token = fleet.signIn();
  await instances[0]?.do('signOut', token);
  for (const instance of instances)
    await until('the sign-out is received', async () => (await instance.do('revocationsOf', token)) > 0);
}

async function expectServiceDecides(fleet: Fleet, instance: Instance | undefined): Promise<void> {
  for (let index = 0; index < 30; index += 1) {
    const token = fleet.signIn();
    expect(await instance?.status(token)).toBe(200);
    expect(await instance?.status(`not-${token}`)).toBe(401);
  }
}

describeWithRedis('a client with a prefix of all keys', () => {
  const start = fleets();

  it('shares with clients of the same prefix, and receives their messages', async () => {
    const fleet = await start();
    const redis = { port: fleet.server.port, options: { keyPrefix: 'application:' } };
    const instances = await fleet.instances(2, { redis });
    const token = fleet.signIn();
    await expectAskedOnce(fleet, instances, token);
    expect(await fleet.key('V')).toMatch(/^application:session-auth:/);
    await instances[0]?.do('signOut', token);
    for (const instance of instances)
      await until('its revocation is emitted', async () => (await instance.do('revocationsOf', token)) === 1);
  });
});

const ANN = { username: 'ann' };

describeWithRedis('an application with a store', () => {
  describe.each(platforms('Express'))('on %s', (_name, platform) => {
    it('lets users in from the store if its client pipelines commands and returns numbers as strings [Q03]', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(ANN));
        const redis = { enableAutoPipelining: true, stringNumbers: true } as const;
        await bed.kept('token', { redis });
        const before = bed.asked;
        // The machine may stand still for longer than the default.
        const other = await bed.connectedApp({ redis, store: { timeoutMs: 1_000 } });
        expect([
          (await other.get('/me', 'token')).status,
          (await other.get('/me', 'token')).status,
          bed.asked - before,
        ]).toEqual([200, 200, 0]);
      }));

    it('that may not subscribe writes one log line and is degraded, until it may [Q05]', () =>
      StoreBed.during(platform, async (bed) => {
        await bed.redis.call('ACL', 'SETUSER', 'deaf', 'on', '>password', '~*', '+@all', 'resetchannels');
        const { app, log } = await bed.app({ redis: { username: 'deaf', password: 'password' } });
        const events = app.get(SessionAuthEvents);
        await until('it is degraded', () => events.serviceStatus.revocationBus.state === 'interrupted');
        expect(events.serviceStatus.state).toBe('degraded');
        const lines = log.lines.filter((line) => line.includes('revocation bus interrupted'));
        expect(lines).toHaveLength(1);
        expect(lines[0]).not.toContain('password');
        await bed.redis.call('ACL', 'SETUSER', 'deaf', 'allchannels');
        await until(
          'it is up',
          () =>
            events.serviceStatus.state === 'up' && events.serviceStatus.revocationBus.state === 'connected',
        );
      }));
  });
});
