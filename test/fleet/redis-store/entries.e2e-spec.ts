import { afterAll, afterEach, beforeAll, expect, it, describe } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, redisClient, RedisServer } from '../../support/redis.js';
import { MASTER, RedisSentinel } from '../../support/redis-sentinel.js';
import { SESSION_STORE_RULES } from '../../support/session-store-rules.js';
import { oneOf } from '../../support/long-form.js';
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

  it('treats a value without an expiry as expired', async () => {
    await redis.set('session-auth:endless', 'Vvalue');
    expect(await store.get('endless')).toMatchObject({ kind: 'value', remainingMs: 0 });
  });

  it.each(['soon', '', '1e999', '-1.5'])(
    'rejects a revocation that reads "%s": the session may be revoked',
    async (record) => {
      await redis.set('session-auth:revoked:strange', record);
      await expect(store.getRevocations(['other', 'strange'])).rejects.toThrow(
        'The session store has an unreadable revocation',
      );
    },
  );
});

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
  [
    'all of them',
    {
      enableAutoPipelining: true,
      stringNumbers: true,
      keyPrefix: 'theirs:',
      showFriendlyErrorStack: true,
      protocol: 2,
    },
  ],
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

  describe.each(oneOf('kinds of options of ioredis', OPTIONS))('%s', (_name, options) => {
    it.each([
      ['a single Redis', () => new Redis({ ...options, host: '127.0.0.1', port: server.port })],
      ['a Redis Cluster', () => new Cluster(cluster.places, { ...options, redisOptions: options })],
    ])('keeps every rule in %s [Q03]', async (_place, connect: () => Redis | Cluster) => {
      const clients = [connect(), connect()] as const;
      try {
        await until('both are ready', () => clients.every(({ status }) => status === 'ready'));
        const [one, other] = clients.map((redis) => new RedisSessionStore({ redis })) as [
          RedisSessionStore,
          RedisSessionStore,
        ];
        for (const { check } of SESSION_STORE_RULES) await check(one, other);
      } finally {
        for (const client of clients) client.disconnect();
      }
    });
  });

  it('changes nothing in the client', async () => {
    const redis = new Redis(server.port, '127.0.0.1');
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
  });

  it('queues no command while there is no connection', async () => {
    const redis = redisClient(1);
    const store = new RedisSessionStore({ redis });

    const attempts = [
      store.get('key'),
      store.set('key', new Uint8Array(1), 1),
      store.publish(new Uint8Array(1)),
      store.setRevocation('key', 1),
    ];
    const outcomes = await Promise.allSettled([
      ...attempts,
      store.setTombstone('key', 1),
      store.getRevocations(['key']),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
    redis.disconnect();
  });
});
