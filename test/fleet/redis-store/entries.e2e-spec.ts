import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, RedisServer } from '../../support/redis.js';

const MINUTE = 60_000;
const UNUSABLE = { kind: 'value', value: new Uint8Array(), remainingMs: 0 };

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

  it('deletes the value when a tombstone can not be set, because Redis is full [Q07]', async () => {
    await store.set('signed-out', Buffer.from('value'), MINUTE);
    await store.set('other', Buffer.from('value'), MINUTE);
    await fill();

    await expect(store.setTombstone('signed-out', MINUTE)).rejects.toThrow('OOM');

    expect((await store.get('signed-out')).kind).toBe('none');
    expect((await store.get('other')).kind).toBe('value');
  });

  it('finds entries in a Redis that is full, and rejects what it can not take [Q02]', async () => {
    await store.setTombstone('tombstone', MINUTE);
    await fill();
    const lease = { id: 'id', holder: 'holder', ttlMs: MINUTE, graceMs: MINUTE };

    expect((await store.get('tombstone', lease)).kind).toBe('tombstone');
    expect((await store.get('nothing')).kind).toBe('none');
    await expect(store.get('nothing', lease)).rejects.toThrow('OOM');
    await expect(store.set('nothing', Buffer.from('value'), MINUTE)).rejects.toThrow('OOM');
    await expect(store.setRevocation('nothing', MINUTE)).rejects.toThrow('OOM');
  });

  it.each([
    ['of another type', () => redis.lpush('session-auth:strange', 'V')],
    ['longer than any value', () => redis.set('session-auth:strange', `V${'x'.repeat(200_000)}`)],
    ['of an unknown kind', () => redis.set('session-auth:strange', 'Xvalue')],
    ['a broken lease', () => redis.set('session-auth:strange', 'Lid:holder')],
    ['a lease of a holder with a name that no holder has', () => redis.set('session-auth:strange', 'Lid:a key:0')],
  ])('reads an entry that is %s as a value that can not be used, and replaces it', async (_name, write) => {
    await redis.del('session-auth:strange');
    await write();

    expect(await store.get('strange')).toMatchObject(UNUSABLE);
    expect(await store.set('strange', Buffer.from('value'), MINUTE)).toBe(true);
    expect((await store.get('strange')).kind).toBe('value');
  });

  it('reads a value without an end as one that has ended', async () => {
    await redis.set('session-auth:endless', 'Vvalue');
    expect(await store.get('endless')).toMatchObject({ kind: 'value', remainingMs: 0 });
  });

  it.each(['soon', '', '1e999', '-1.5'])('rejects a revocation that reads "%s": the session may be revoked', async (record) => {
    await redis.set('session-auth:revoked:strange', record);
    await expect(store.getRevocations(['other', 'strange'])).rejects.toThrow('The session store has an unreadable revocation');
  });

  it('asks for a sign of life of no holder whose grace is not over', async () => {
    await store.get('leased', { id: 'id', holder: 'holder', ttlMs: MINUTE, graceMs: MINUTE });
    await redis.config('RESETSTAT');
    expect((await store.get('leased')).kind).toBe('leased');
    expect(await redis.info('commandstats')).toMatch(/cmdstat_evalsha:calls=1,/);
  });
});

describeWithRedis('a revocation in a Redis Cluster', () => {
  it('is recorded by the latest clock of its nodes, because look-ups on all of them are compared with it', async () => {
    const cluster = await RedisCluster.start(3);
    const redis = new Cluster(cluster.places);
    await redis.ping();
    const aheadMs = Date.now() + 10 * MINUTE;
    const ahead = new Redis({ lazyConnect: true });
    ahead.callBuffer = () => Promise.resolve([aheadMs / 1_000, 0]);
    const nodes = redis.nodes('master');
    redis.nodes = () => [...nodes, ahead];
    const store = new RedisSessionStore({ redis });

    await store.setRevocation('user', MINUTE);

    expect(await store.getRevocations(['user'])).toEqual([aheadMs]);
    redis.disconnect();
    await cluster.close();
  });
});
