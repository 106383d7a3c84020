import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { json, reply } from 'nestjs-session-auth/testing';
import { randomBytes } from 'node:crypto';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { platforms } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { StoreBed, type StoreAppSetup } from './store-bed.js';

const READER = { username: 'ann', role: 'reader' };
const ADMIN = { username: 'eve', role: 'admin' };

/**
 * Checks a token on applications with empty caches, and expects that each asks the service and uses its
 * answer.
 */
async function expectServiceDecides(
  bed: StoreBed,
  token: string,
  setup?: StoreAppSetup,
  again?: () => Promise<unknown>,
): Promise<void> {
  for (const [script, status] of [
    [reply(401), 401],
    [json(READER), 200],
  ] as const) {
    await again?.();
    bed.service.on('user_details', script);
    const before = bed.asked;
    const app = await bed.connectedApp(setup);
    const response = await app.get('/me', token);
    expect([response.status, bed.asked - before]).toEqual([status, 1]);
    if (status === 200) expect(await response.json()).toMatchObject(READER);
  }
}

type Write = (bed: StoreBed, key: string, value: Buffer) => Promise<unknown>;

const WRITES: [what: string, write: Write][] = [
  ['nothing', ({ redis }, key) => redis.set(key, '', 'PX', 60_000)],
  ['a text', ({ redis }, key) => redis.set(key, JSON.stringify(ADMIN), 'PX', 60_000)],
  [
    'a record in the place of a value',
    ({ redis }, key) => redis.set(key, `V${JSON.stringify(ADMIN)}`, 'PX', 60_000),
  ],
  [
    'bytes',
    ({ redis }, key) =>
      redis.set(key, Buffer.concat([Buffer.from('V\u0001'), randomBytes(200)]), 'PX', 60_000),
  ],
  ['a megabyte', ({ redis }, key) => redis.set(key, Buffer.alloc(1_048_576, 'V'), 'PX', 60_000)],
  ['a value cut short', ({ redis }, key, value) => redis.set(key, value.subarray(0, -1), 'PX', 60_000)],
  ['a value with one bit turned', ({ redis }, key, value) => redis.set(key, turned(value), 'PX', 60_000)],
  ['its value without an end', ({ redis }, key, value) => redis.set(key, value)],
  ['the mark of an end', ({ redis }, key) => redis.set(key, 'E', 'PX', 60_000)],
  ['a mark without an end', ({ redis }, key) => redis.set(key, 'E')],
  ['a list', ({ redis }, key) => redis.del(key).then(() => redis.rpush(key, 'V', 'V'))],
  ['a hash', ({ redis }, key) => redis.del(key).then(() => redis.hset(key, 'V', 'V'))],
  ['a set', ({ redis }, key) => redis.del(key).then(() => redis.sadd(key, 'V'))],
  ['a stream', ({ redis }, key) => redis.del(key).then(() => redis.xadd(key, '*', 'V', 'V'))],
  ['an entry of another kind, without an end', ({ redis }, key) => redis.set(key, 'Xvalue')],
];

function turned(value: Buffer): Buffer {
  const copy = Buffer.from(value);
  copy[copy.length - 20] = (copy[copy.length - 20] ?? 0) ^ 1;
  return copy;
}

describeWithRedis('a client that can write to the store', () => {
  describe.each(platforms('Express'))('of an application on %s', (_name, platform) => {
    it('can cause a call, and no more, by any value under the key of a session [Q22]', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(READER));
        const { key, value } = await bed.kept('token');
        for (const [what, write] of WRITES) {
          await expectServiceDecides(bed, 'token', {}, () => write(bed, key, value)).catch(
            (error: unknown) => {
              throw new Error(`With ${what}: ${String(error)}`);
            },
          );
        }
      }));

    it('gives no user the session of another, nor that of another IV, by exchanging values', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(ADMIN));
        const [eve, iv] = [await bed.kept('token-of-eve'), await bed.kept('token-of-ann', {}, 'iv-of-eve')];
        bed.service.on('user_details', json(READER));
        await expectServiceDecides(bed, 'token-of-ann', {}, () =>
          bed.redis.set(iv.key, eve.value, 'PX', 60_000),
        );
        await expectServiceDecides(bed, 'token-of-ann', {}, () =>
          bed.redis.set(iv.key, iv.value, 'PX', 60_000),
        );
      }));

    it('prolongs no session by restoring a value, or by giving it another lifetime', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(READER));
        const ttlMs = 300;
        const { key, value } = await bed.kept('token', { ttlMs });
        await bed.redis.persist(key);
        await bed.redis.pexpire(key, 600_000);
        const keptAt = performance.now();
        await until('it has expired', () => performance.now() - keptAt > ttlMs);
        await expectServiceDecides(bed, 'token', { ttlMs }, () => bed.redis.set(key, value, 'PX', 600_000));
        await expectServiceDecides(bed, 'token', { ttlMs }, () => bed.redis.set(key, value));
      }));

    it('restores no session that was signed out, on an application that has its tombstone', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(READER));
        const { app, key, value } = await bed.kept('token');
        const before = bed.asked;
        await app.app.get(SessionAuthService).signOut('token');
        await bed.redis.set(key, value, 'PX', 60_000);
        bed.service.on('user_details', reply(401));
        expect([(await app.get('/me', 'token')).status, bed.asked - before]).toEqual([401, 1]);
      }));

    it('grants nothing by a value that is sealed with another secret, or for another session service', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(ADMIN));
        const forged = await bed.kept('token', { store: { secret: 'the secret of eve' } });
        bed.service.on('user_details', json(READER));
        const own = await bed.kept('token');
        expect(own.key).not.toBe(forged.key);
        await expectServiceDecides(bed, 'token', {}, () =>
          bed.redis.set(own.key, forged.value, 'PX', 60_000),
        );
      }));

    it('and alter its traffic prolongs no value by a garbled age', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(READER));
        await bed.kept('token');
        const proxy = bed.keep(await MeddlingProxy.to(bed.server.port));
        proxy.rewrite((bytes) =>
          Buffer.from(bytes.toString('latin1').replace(/\r\n:\d{4,6}(?=\r\n)/g, '\r\n$3\r\nold'), 'latin1'),
        );
        await expectServiceDecides(bed, 'token', { redis: { port: proxy.port } });
      }));
  });
});
