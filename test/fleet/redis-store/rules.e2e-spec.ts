import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { SESSION_STORE_RULES } from 'nestjs-session-auth/testing';
import { RedisCluster } from '../../support/redis-cluster.js';
import { MASTER, RedisSentinel } from '../../support/redis-sentinel.js';
import { describeWithRedis, RedisServer } from '../../support/redis.js';

interface Place {
  client(): Redis | Cluster;
  close(): Promise<void>;
}

async function single(): Promise<Place> {
  const server = await RedisServer.start();
  return { client: () => new Redis(server.port, '127.0.0.1'), close: () => server.close() };
}

async function behindSentinel(): Promise<Place> {
  const sentinel = await RedisSentinel.start();
  const sentinels = [{ host: '127.0.0.1', port: sentinel.port }];
  return { client: () => new Redis({ sentinels, name: MASTER }), close: () => sentinel.close() };
}

async function clustered(): Promise<Place> {
  const cluster = await RedisCluster.start(3);
  return { client: () => new Cluster(cluster.places), close: () => cluster.close() };
}

describeWithRedis('a session store', () => {
  describe.each([
    ['a single Redis', single],
    ['a Redis behind a Sentinel', behindSentinel],
    ['a Redis Cluster', clustered],
  ])('in %s', (_name, start) => {
    let place: Place;
    let clients: (Redis | Cluster)[];

    beforeAll(async () => {
      place = await start();
      clients = [place.client(), place.client()];
      await Promise.all(clients.map((client) => client.set('is', 'there')));
    });
    afterAll(async () => {
      for (const client of clients) client.disconnect();
      await place.close();
    });

    it.each(SESSION_STORE_RULES)('$name', async ({ check }) => {
      const [one, other] = clients.map((redis) => new RedisSessionStore({ redis }));
      if (one && other) await check(one, other);
    });
  });
});
