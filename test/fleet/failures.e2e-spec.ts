import { describe, expect, it } from '@jest/globals';
import { json, reply } from 'nestjs-session-auth/testing';
import { randomUUID } from 'node:crypto';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { platforms } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { until } from '../support/until.js';
import { StoreBed, STORE_WARNING, type StoreApp, type StoreAppSetup } from './store-bed.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { expectAskedOnce, fleets } from './suites.js';

const CHECKS = 20;
/** The time limit of a call to the store, and the delay that a busy machine adds to a check. */
const [STORE_TIMEOUT_MS, BUSY_MACHINE_MS] = [50, 2_450];

/** Makes an application whose store fails. */
type Failure = (bed: StoreBed, proxy: MeddlingProxy, setup: StoreAppSetup) => Promise<StoreApp>;

/** A failure that begins while the application uses the store. */
const midway =
  (
    begin: (bed: StoreBed, proxy: MeddlingProxy) => unknown,
    redis: NonNullable<StoreAppSetup['redis']> = {},
  ): Failure =>
  async (bed, proxy, setup) => {
    bed.service.on('user_details', json({ username: 'ann' }));
    const { app } = await bed.kept(randomUUID(), { ...setup, redis: { port: proxy.port, ...redis } });
    await begin(bed, proxy);
    return app;
  };

const user = (bed: StoreBed, ...rules: string[]): Promise<unknown> =>
  bed.redis.call('ACL', 'SETUSER', 'application', 'reset', 'on', '>password', '~*', '&*', '+@all', ...rules);

/** Turns a bit of every byte that is not part of a line's end. */
const garbled = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => (byte === 13 || byte === 10 ? byte : byte ^ 2)));

const FAILURES: [what: string, failure: Failure][] = [
  ['is killed', midway(({ server }) => server.kill())],
  ['hangs', midway((_bed, proxy) => proxy.fallSilent())],
  ['is slow', midway((_bed, proxy) => proxy.slowDown(200))],
  ['answers garbled bytes', midway((_bed, proxy) => proxy.rewrite(garbled))],
  ['is out of memory', midway(({ redis }) => redis.config('SET', 'maxmemory', '1'))],
  [
    'is a replica that cannot be written to',
    midway(async ({ redis }) => {
      await redis.config('SET', 'replica-serve-stale-data', 'yes');
      await redis.replicaof('127.0.0.1', 1);
    }),
  ],
  [
    'takes another password',
    async (bed, proxy, setup) => {
      await user(bed);
      return bed.app({ ...setup, redis: { port: proxy.port, username: 'application', password: 'wrong' } });
    },
  ],
  [
    'runs no scripts for this user',
    async (bed, proxy, setup) => {
      await user(bed, '-evalsha', '-eval');
      return bed.connectedApp({
        ...setup,
        redis: { port: proxy.port, username: 'application', password: 'password' },
      });
    },
  ],
];

/** The milliseconds of cold checks, the quickest first; each is decided by the service. */
async function coldChecks(bed: StoreBed, app: StoreApp, round: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < CHECKS; index += 1) {
    const good = index % 2 === 0;
    bed.service.on('user_details', good ? json({ username: 'ann' }) : reply(401));
    const [before, start] = [bed.asked, performance.now()];
    const { status } = await app.get('/me', `token-${round}-${index}`);
    times.push(performance.now() - start);
    expect([status, bed.asked - before]).toEqual([good ? 200 : 401, 1]);
  }
  return times.sort((one, other) => one - other);
}

describeWithRedis('a store that fails', () => {
  describe.each(platforms('Fastify'))('under an application on %s', (_name, platform) => {
    it.each(FAILURES)(
      'because it %s costs no check its verdict and little time, and is logged once',
      (_what, failure) =>
        StoreBed.during(platform, async (bed) => {
          const beganMs = performance.now();
          const proxy = bed.keep(await MeddlingProxy.to(bed.server.port));
          const app = await failure(bed, proxy, { store: { timeoutMs: STORE_TIMEOUT_MS } });
          const times = await coldChecks(bed, app, 'one');
          expect(times[CHECKS / 2]).toBeLessThan(STORE_TIMEOUT_MS + BUSY_MACHINE_MS);
          await until('the warning is logged', () => app.log.having('warn', STORE_WARNING).length > 0);
          await coldChecks(bed, app, 'another');
          // A late answer may end the cause, if no call fails in the next five seconds.
          const over = app.log.having('log', STORE_WARNING).length;
          expect(over).toBeLessThanOrEqual((performance.now() - beganMs) / 5_000);
          expect(app.log.having('warn', STORE_WARNING)).toHaveLength(1 + over);
          expect(app.log.having('error', '')).toEqual([]);
        }),
    );

    it('is used again when it works', () =>
      StoreBed.during(platform, async (bed) => {
        const app = await midway(({ server }) => server.kill())(
          bed,
          bed.keep(await MeddlingProxy.to(bed.server.port)),
          {},
        );
        await coldChecks(bed, app, 'one');
        await bed.server.run();
        bed.service.on('user_details', json({ username: 'ann' }));
        let tokens = 0;
        await until('a session is kept', async () => {
          await app.get('/me', `later-${(tokens += 1)}`);
          const keys = await bed.redis.keys('*').catch(() => []);
          return (await Promise.all(keys.map((key) => bed.redis.getrange(key, 0, 0)))).includes('V');
        });
        expect(app.log.having('warn', STORE_WARNING)).toHaveLength(1);
      }));
  });
});

/** The commands that instances need of Redis, on its one prefix; some more or fewer of them. */
const acl = (...rules: string[]): string[] => [
  'reset',
  'on',
  '>password',
  '~session-auth:*',
  '&session-auth:*',
  '+@all',
  ...rules,
];

interface Pair {
  /** Reaches Redis directly. */
  readonly near: Instance;
  /** Reaches Redis by the proxy. */
  readonly far: Instance;
  readonly proxy: MeddlingProxy;
  readonly token: string;
}

describeWithRedis('an instance that receives no messages for a while', () => {
  const start = fleets();

  async function pairOf(fleet: Fleet): Promise<Pair> {
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    const [near, far] = await Promise.all([
      fleet.instance(),
      fleet.instance({ redis: { port: proxy.port }, platform: 'Fastify' }),
    ]);
    await fleet.receiving(near, far);
    const token = fleet.signIn();
    expect([await near.status(token), await far.status(token)]).toEqual([200, 200]);
    await fleet.key('V');
    return { near, far, proxy, token };
  }

  it.each([
    ['was cut off', (proxy: MeddlingProxy) => proxy.cut()],
    ['got no bytes any more', (proxy: MeddlingProxy) => proxy.fallSilent()],
  ])(
    'denies a session that was signed out while it %s, as soon as it receives messages again',
    async (_how: string, interrupt: (proxy: MeddlingProxy) => void) => {
      const fleet = await start();
      const { near, far, proxy, token } = await pairOf(fleet);
      interrupt(proxy);
      fleet.revoke(token);
      expect(await near.do('signOut', token)).toBe('done');
      // No message reaches it: a cached session may live on for its lifetime at most.
      expect(await far.status(token)).toBe(200);

      proxy.restore();
      await until('it denies', async () => (await far.status(token)) === 401);
      await until('it is subscribed again', async () => (await fleet.listeners()) >= 2);
      const next = fleet.signIn();
      await until('the far one receives revocations', async () => {
        await near.do('signOut', next);
        return (await far.do('revocationsOf', next)) > 0;
      });
    },
  );

  it('subscribes as soon as Redis answers, although its first connection never got an answer', async () => {
    const fleet = await start();
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    proxy.fallSilent();
    const instance = await fleet.instance({ redis: { port: proxy.port } });
    expect(await instance.status(fleet.signIn())).toBe(200);
    proxy.restore();
    await fleet.subscribed(1);
  });

  it('writes the sign-outs of an outage of Redis as soon as Redis is back', async () => {
    const fleet = await start();
    const { far, proxy } = await pairOf(fleet);
    proxy.cut();
    const tokens = Array.from({ length: 5 }, () => fleet.signIn());
    for (const token of tokens) expect(await far.do('signOut', token)).toBe('done');
    proxy.restore();
    await until('all tombstones are there', async () => {
      const keys = await fleet.redis.keys('*');
      const values = await Promise.all(keys.map((key) => fleet.redis.getrange(key, 0, -1)));
      return values.filter((value) => value === 'E').length === tokens.length;
    });
  });

  it.each([
    ['the other one may not publish', ['-publish'], []],
    ['it may not subscribe', [], ['resetchannels']],
  ])(
    'checks a session that another one signed out when its cache entry has expired, where %s',
    async (_why: string, ofNear: string[], ofFar: string[]) => {
      const fleet = await start();
      await fleet.redis.call('ACL', 'SETUSER', 'near', ...acl(...ofNear));
      await fleet.redis.call('ACL', 'SETUSER', 'far', ...acl(...ofFar));
      const as = (username: string) => ({
        redis: { port: fleet.server.port, options: { username, password: 'password' } },
      });
      const ttlMs = 3_000;
      const options = { cache: { ttlMs } };
      const near = await fleet.instance({ ...as('near'), options });
      const far = await fleet.instance({ ...as('far'), options, platform: 'Fastify' });
      for (const instance of [near, far]) await instance.do('connected');
      // A subscription evicts the entries that were cached before it.
      await fleet.receiving(near, ...(ofFar.length === 0 ? [far] : []));
      const token = fleet.signIn();
      const cachedAfterMs = performance.now();
      await expectAskedOnce(fleet, [far, near], token);

      // The service has not revoked it: the tombstone denies it.
      const before = fleet.asked;
      expect(await near.do('signOut', token)).toBe('done');
      expect(await far.status(token)).toBe(200);
      // On a busy machine, the entry may have expired by now.
      const isYoung = performance.now() - cachedAfterMs < ttlMs;
      expect(isYoung ? fleet.asked : before).toBe(before);
      await until(
        'it asks the service',
        async () => (await far.status(token)) === 200 && fleet.asked > before,
      );
      fleet.revoke(token);
      expect(await far.status(token)).toBe(401);
      expect(await fleet.listeners(CHANNEL)).toBe(ofFar.length === 0 ? 2 : 1);
    },
  );
});

const SECRETS = ['the newest secret', 'the secret before', 'the oldest secret'] as const;
const [BUDGET_MS, LATE_MS] = [1_000, 900];

describeWithRedis('what a store costs each check', () => {
  const start = fleets();

  /** The milliseconds of checks of sessions, one after the other, which all succeed. */
  async function timesOf(instance: Instance, tokens: readonly string[]): Promise<number[]> {
    const times: number[] = [];
    for (const token of tokens) {
      const startMs = performance.now();
      expect(await instance.status(token)).toBe(200);
      times.push(performance.now() - startMs);
    }
    return times;
  }

  it.each(['Express', 'Fastify'] as const)(
    'is its timeout at most, for all secrets and commands together, and soon nothing, on %s [Q15]',
    async (platform) => {
      const fleet = await start();
      const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
      const store = { timeoutMs: BUDGET_MS, secret: SECRETS };
      const near = await fleet.instance({ store });
      const tokens = Array.from({ length: 8 }, () => fleet.signIn());
      await timesOf(near, tokens);
      await until('all are stored', async () => (await fleet.entries()).length === tokens.length);
      const far = await fleet.instance({ platform, store, redis: { port: proxy.port } });
      await far.do('connected');
      // The look-up takes less than the timeout, and so do the revocations, but not both.
      proxy.slowDown(LATE_MS);
      const times = await timesOf(far, tokens);
      // The least of some: the machine may stall during one.
      expect(Math.min(...times.slice(0, 3))).toBeLessThan(BUDGET_MS + LATE_MS / 2);
      expect(Math.min(...times.slice(-4))).toBeLessThan(LATE_MS / 2);
    },
  );

  it('is its timeout for few of many checks, if one of three masters is dead [Q15]', async () => {
    const fleet = await start();
    const cluster = fleet.keep(await RedisCluster.start(3));
    const instance = await fleet.instance({
      redis: { nodes: cluster.places },
      store: { timeoutMs: BUDGET_MS },
    });
    await instance.do('connected');
    await timesOf(instance, [fleet.signIn()]);
    await cluster.kill(0);
    const times = await timesOf(
      instance,
      Array.from({ length: 90 }, () => fleet.signIn()),
    );
    expect(times.filter((tookMs) => tookMs > LATE_MS).length).toBeLessThan(15);
    expect(times.filter((tookMs) => tookMs > BUDGET_MS + LATE_MS / 2).length).toBeLessThan(3);
  });
});
