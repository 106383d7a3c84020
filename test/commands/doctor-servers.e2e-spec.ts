import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { freePort } from '../support/server-process.js';
import { describeWithRedis, RedisServer } from '../support/redis.js';
import { captureIo } from './captured-io.js';
import { type DoctorRun, ENV, runDoctor } from './doctor-run.js';
import { OddService } from './odd-service.js';

const PASSWORD = 'the password of redis';
/** As the guide "Redis setups" grants them. */
const RIGHTS =
  '+evalsha +eval +getrange +get +mget +set +del +pttl +time +publish +subscribe +ping +info'.split(' ');
const PATTERNS = ['~session-auth:*', '&session-auth:*'];

const COMPLETE = [...PATTERNS, ...RIGHTS];
const NO_RIGHTS = { 'redis-rights': 'fail', 'redis-messages': 'ok' };
const NO_MESSAGES = { 'redis-rights': 'ok', 'redis-messages': 'fail' };
const FINE = Object.fromEntries(
  ['redis', 'redis-rights', 'redis-messages', 'redis-clock', 'redis-memory', 'redis-version'].map((id) => [
    id,
    'ok',
  ]),
);

/** Users of Redis: their rights, and the expected findings of the doctor. */
const USERS: readonly (readonly [name: string, rights: readonly string[], found: Record<string, string>])[] =
  [
    ['complete', COMPLETE, FINE],
    ['without-scripts', [...COMPLETE, '-evalsha'], NO_RIGHTS],
    ['without-keys', ['~other:*', '&session-auth:*', ...RIGHTS], NO_RIGHTS],
    ['without-channels', ['~session-auth:*', 'resetchannels', ...RIGHTS], NO_MESSAGES],
    ['without-publish', [...COMPLETE, '-publish'], NO_MESSAGES],
  ];

describeWithRedis('the doctor examines a Redis', () => {
  let redis: RedisServer;
  let service: OddService;
  let admin: Redis;
  beforeAll(async () => {
    [redis, service] = await Promise.all([RedisServer.start(), OddService.start()]);
    admin = new Redis(redis.port, '127.0.0.1');
    for (const [name, rights] of USERS)
      await admin.call('ACL', 'SETUSER', name, 'reset', 'on', `>${PASSWORD}`, ...rights);
  });
  afterAll(async () => {
    admin.disconnect();
    await Promise.all([redis.close(), service.close()]);
  });

  const examine = (user: string, password = PASSWORD, port = redis.port): Promise<DoctorRun> =>
    runDoctor(
      service.url,
      ['--timeout', '1500', '--redis', `redis://${user}@127.0.0.1:${port}`],
      captureIo({ ...ENV, REDIS_PASSWORD: password }),
    );

  it.each(USERS)('with the user %s, and leaves no key behind', async (name, _rights, found) => {
    const { code, outcomes, printed } = await examine(name);
    expect(outcomes).toMatchObject(found);
    expect(code).toBe(Object.values(found).includes('fail') ? 1 : 0);
    expect(await admin.dbsize()).toBe(0);
    expect(printed).not.toContain(PASSWORD);
  });

  it('and names the command that its user lacks', async () => {
    expect((await examine('without-scripts')).printed).toContain('look-ups (+evalsha)');
    expect((await examine('without-keys')).printed).toContain('(the keys session-auth:*)');
  });

  it('that refuses the password, or is down', async () => {
    const refused = await examine('complete', 'a wrong password');
    expect(refused.printed).toContain('Redis refuses the user name or the password.');
    const absent = await examine('complete', PASSWORD, await freePort());
    expect(absent.printed).toContain('The connection to Redis failed (ECONNREFUSED).');
    expect([refused.code, absent.code]).toEqual([1, 1]);
  });

  it('that evicts keys when it is full', async () => {
    await admin.config('SET', 'maxmemory', '100mb');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { outcomes, code } = await examine('complete');
    expect([outcomes['redis-memory'], code]).toEqual(['warn', 0]);
  });
});
