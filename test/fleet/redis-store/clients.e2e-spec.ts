import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { SESSION_STORE_RULES } from 'nestjs-session-auth/testing';
import { oneOf } from '../../support/long-form.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, RedisServer } from '../../support/redis.js';
import { until } from '../../support/until.js';

interface Options {
  enableAutoPipelining?: true;
  stringNumbers?: true;
  keyPrefix?: string;
  showFriendlyErrorStack?: true;
  protocol?: 2 | 3;
  replyMapping?: 'resp3';
}

const OPTIONS: [string, Options][] = [
  ['enableAutoPipelining', { enableAutoPipelining: true }],
  ['stringNumbers', { stringNumbers: true }],
  ['keyPrefix', { keyPrefix: 'theirs:' }],
  ['showFriendlyErrorStack', { showFriendlyErrorStack: true }],
  ['protocol: 2', { protocol: 2 }],
  ["protocol: 3 and replyMapping: 'resp3'", { protocol: 3, replyMapping: 'resp3' }],
  ['all of them', { enableAutoPipelining: true, stringNumbers: true, keyPrefix: 'theirs:', showFriendlyErrorStack: true, protocol: 2 }],
];

describeWithRedis('a session store on a client with options', () => {
  let server: RedisServer;
  let cluster: RedisCluster;

  beforeAll(async () => {
    [server, cluster] = await Promise.all([RedisServer.start(), RedisCluster.start(3)]);
  });
  afterAll(async () => {
    await server.close();
    await cluster.close();
  });

  describe.each(oneOf(OPTIONS))('%s', (_name, options) => {
    it.each([
      ['a single Redis', () => new Redis({ ...options, host: '127.0.0.1', port: server.port })],
      ['a Redis Cluster', () => new Cluster(cluster.places, { ...options, redisOptions: options })],
    ])('keeps every rule in %s [Q03]', async (_place, connect: () => Redis | Cluster) => {
      const clients = [connect(), connect()] as const;
      try {
        await until('both are ready', () => clients.every(({ status }) => status === 'ready'));
        const [one, other] = clients.map((redis) => new RedisSessionStore({ redis })) as [RedisSessionStore, RedisSessionStore];
        for (const { check } of SESSION_STORE_RULES) await check(one, other);
      } finally {
        for (const client of clients) client.disconnect();
      }
    });
  });

  it('changes nothing of the client', async () => {
    const redis = new Redis(server.port, '127.0.0.1');
    await until('it is ready', () => redis.status === 'ready');
    const before = [Reflect.ownKeys(redis), redis.eventNames(), { ...redis.options }];

    const store = new RedisSessionStore({ redis });
    await store.set('key', new Uint8Array(1), 1_000);
    await store.get('key');
    const stop = store.subscribe({ message: () => undefined, subscribed: () => undefined, interrupted: () => undefined });
    await stop();

    expect([Reflect.ownKeys(redis), redis.eventNames(), { ...redis.options }]).toEqual(before);
    redis.disconnect();
  });

  it('keeps no command for later while there is no connection', async () => {
    const redis = new Redis(1, '127.0.0.1');
    redis.on('error', () => undefined);
    const store = new RedisSessionStore({ redis });

    const attempts = [
      store.get('key'),
      store.set('key', new Uint8Array(1), 1),
      store.publish(new Uint8Array(1)),
      store.setRevocation('key', 1),
    ];
    const outcomes = await Promise.allSettled([...attempts, store.setTombstone('key', 1), store.getRevocations(['key'])]);

    expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
    redis.disconnect();
  });
});
