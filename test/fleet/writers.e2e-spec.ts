import { describe, expect, it } from '@jest/globals';
import { IsIn } from 'class-validator';
import { SessionAuthService, UserRecord } from 'nestjs-session-auth';
import { json, reply } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { StoreBed } from './store-bed.js';

const READER = { username: 'ann', role: 'reader' };
const ADMIN = { username: 'eve', role: 'admin' };

/**
 * Checks a token on applications with empty caches, and expects that each asks the service and uses its
 * answer. `write` changes the store before.
 */
async function expectServiceDecides(
  bed: StoreBed,
  token: string,
  write: () => Promise<unknown>,
): Promise<void> {
  for (const [script, status] of [
    [reply(401), 401],
    [json(READER), 200],
  ] as const) {
    await write();
    bed.service.on('user_details', script);
    const before = bed.asked;
    const app = await bed.connectedApp();
    const response = await app.get('/me', token);
    expect([response.status, bed.asked - before]).toEqual([status, 1]);
    if (status === 200) expect(await response.json()).toMatchObject(READER);
  }
}

type Write = (bed: StoreBed, key: string, value: Buffer) => Promise<unknown>;

const PX = ['PX', 60_000] as const;
const WRITES: [what: string, write: Write][] = [
  ['a record', ({ redis }, key) => redis.set(key, `V${JSON.stringify(ADMIN)}`, ...PX)],
  ['a value cut short', ({ redis }, key, value) => redis.set(key, value.subarray(0, -1), ...PX)],
  ['a value with one bit turned', ({ redis }, key, value) => redis.set(key, turned(value), ...PX)],
  ['its value without an end', ({ redis }, key, value) => redis.set(key, value)],
  ['the mark of an end', ({ redis }, key) => redis.set(key, 'E', ...PX)],
  ['a list', ({ redis }, key) => redis.del(key).then(() => redis.rpush(key, 'V', 'V'))],
];

function turned(value: Buffer): Buffer {
  const copy = Buffer.from(value);
  copy[copy.length - 20] = (copy[copy.length - 20] ?? 0) ^ 1;
  return copy;
}

class StricterRecord extends UserRecord {
  @IsIn(['new']) readonly shape?: string;
}

describeWithRedis('a client that can write to the store', () => {
  describe.each(platforms('Express'))('of an application on %s', (_name, platform) => {
    it('can cause a call, and no more, by any value under the key of a session [Q22]', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(READER));
        const { key, value } = await bed.kept('token');
        for (const [what, write] of WRITES) {
          await expectServiceDecides(bed, 'token', () => write(bed, key, value)).catch((error: unknown) => {
            throw new Error(`With ${what}: ${String(error)}`);
          });
        }
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

    it('is named in the log, with its field, if it is another version whose record is not accepted', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json({ username: 'ann', shape: 'old' }));
        await bed.kept('token');
        bed.service.on('user_details', json({ username: 'ann', shape: 'new' }));
        const next = await bed.connectedApp({ options: { userRecord: StricterRecord } });
        expect((await next.get('/me', 'token')).status).toBe(200);
        expect(next.log.having('warn', 'invalid user record')).toEqual([
          expect.stringContaining(
            'cache.store has a record of another version, but shape must satisfy isIn. A call replaces it.',
          ),
        ]);
      }));
  });
});
