import { afterAll, afterEach, beforeAll, expect, it, describe } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, RedisServer } from '../../support/redis.js';
import { MASTER, RedisSentinel } from '../../support/redis-sentinel.js';
import { SESSION_STORE_RULES } from '../../support/session-store-rules.js';
import { until } from '../../support/until.js';

const MINUTE = 60_000;

describeWithRedis('the entries of a store', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RedisSessionStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port, '127.0.0.1');
    await redis.ping();
    store = new RedisSessionStore({ redis });
  });
  afterEach(() => redis.config('SET', 'maxmemory', '0'));
  afterAll(async () => {
    redis.disconnect();
    await server.close();
  });

  const fill = () => redis.config('SET', 'maxmemory', '1');

  it('deletes the value if a tombstone cannot be set because Redis is full [Q07]', async () => {
    await store.set('signed-out', Buffer.from('value'), MINUTE);
    await store.set('other', Buffer.from('value'), MINUTE);
    await fill();

    await expect(store.setTombstone('signed-out', MINUTE)).rejects.toThrow('OOM');

    expect((await store.get('signed-out')).kind).toBe('none');
    expect((await store.get('other')).kind).toBe('value');
  });

  it('finds entries in a full Redis, and rejects writes [Q02]', async () => {
    await store.setTombstone('tombstone', MINUTE);
    await fill();

    expect((await store.get('tombstone')).kind).toBe('tombstone');
    expect((await store.get('nothing')).kind).toBe('none');
    await expect(store.set('nothing', Buffer.from('value'), MINUTE)).rejects.toThrow('OOM');
    await expect(store.setRevocation('nothing', MINUTE)).rejects.toThrow('OOM');
  });

  it.each([
    ['of another type', () => redis.lpush('session-auth:strange', 'V')],
    ['longer than any value', () => redis.set('session-auth:strange', `V${'x'.repeat(200_000)}`)],
  ])('takes an entry that is %s for none, and replaces it', async (_name, write) => {
    await redis.del('session-auth:strange');
    await write();

    expect((await store.get('strange')).kind).toBe('none');
    expect(await store.set('strange', Buffer.from('value'), MINUTE)).toBe(true);
    expect((await store.get('strange')).kind).toBe('value');
  });

  it('finds a sealed record of 64 KiB', async () => {
    await store.set('large', Buffer.alloc(66_000), MINUTE);
    expect((await store.get('large')).kind).toBe('value');
  });

  it.each(['soon', '', '-1.5'])(
    'rejects a revocation that reads "%s": the session may be revoked',
    async (record) => {
      await redis.set('session-auth:revoked:strange', record);
      await expect(store.getRevocations(['other', 'strange'])).rejects.toThrow(
        'The session store has an unreadable revocation',
      );
    },
  );
});

type Start = () => Promise<{ connect: (options: object) => Redis | Cluster; close: () => Promise<void> }>;

const host = '127.0.0.1';
const PLACES: [string, Start][] = [
  [
    'a single Redis',
    async () => {
      const server = await RedisServer.start();
      const connect = (options: object): Redis => new Redis({ ...options, host, port: server.port });
      return { connect, close: () => server.close() };
    },
  ],
  [
    'a Redis behind a Sentinel',
    async () => {
      const sentinel = await RedisSentinel.start();
      const sentinels = [{ host, port: sentinel.port }];
      const connect = (options: object): Redis => new Redis({ ...options, sentinels, name: MASTER });
      return { connect, close: () => sentinel.close() };
    },
  ],
  [
    'a Redis Cluster',
    async () => {
      const cluster = await RedisCluster.start(3);
      const connect = (options: object): Cluster =>
        new Cluster(cluster.places, { ...options, redisOptions: options });
      return { connect, close: () => cluster.close() };
    },
  ],
];
const SOME = { enableAutoPipelining: true, stringNumbers: true, keyPrefix: 'theirs:' } as const;
const OPTIONS: [string, object][] = [
  ['no options', {}],
  ["protocol: 3 and replyMapping: 'resp3'", { protocol: 3, replyMapping: 'resp3' }],
  ['many options', { ...SOME, showFriendlyErrorStack: true, protocol: 2 }],
];

describeWithRedis('a session store', () => {
  describe.each(PLACES)('in %s', (_name, start) => {
    let place: Awaited<ReturnType<Start>>;
    beforeAll(async () => {
      place = await start();
    });
    afterAll(() => place.close());

    it.each(OPTIONS)('keeps every rule on a client with %s [Q03]', async (_options, options) => {
      const clients = [place.connect(options), place.connect(options)] as const;
      try {
        await until('both are ready', () => clients.every(({ status }) => status === 'ready'));
        const [one, other] = clients.map((redis) => new RedisSessionStore({ redis }));
        for (const { check } of SESSION_STORE_RULES) if (one && other) await check(one, other);
      } finally {
        for (const client of clients) client.disconnect();
      }
    });
  });
});

describeWithRedis('a client of a session store', () => {
  it('is not changed', async () => {
    const server = await RedisServer.start();
    const redis = new Redis(server.port, host);
    await until('it is ready', () => redis.status === 'ready');
    const before = [Reflect.ownKeys(redis), redis.eventNames(), { ...redis.options }];

    const store = new RedisSessionStore({ redis });
    await store.set('key', new Uint8Array(1), 1_000);
    await store.get('key');
    const stop = store.subscribe({
      message: () => undefined,
      subscribed: () => undefined,
      interrupted: () => undefined,
    });
    await stop();

    expect([Reflect.ownKeys(redis), redis.eventNames(), { ...redis.options }]).toEqual(before);
    redis.disconnect();
    await server.close();
  });
});
