import { describe, expect, it } from '@jest/globals';
import { json, reply } from 'nestjs-session-auth/testing';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { platforms } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { StoreBed, STORE_WARNING, type StoreApp, type StoreAppSetup } from './store-bed.js';
import type { Instance } from './instance.js';
import { fleets } from './suites.js';

const CHECKS = 20;
/** The time limit of a call to the store, and the delay that a busy machine adds to a check. */
const [STORE_TIMEOUT_MS, BUSY_MACHINE_MS] = [50, 2_450];

/** Makes an application whose store fails. */
type Failure = (bed: StoreBed, proxy: MeddlingProxy, setup: StoreAppSetup) => Promise<StoreApp>;

/** A failure that begins while the application uses the store. */
const midway =
  (begin: (bed: StoreBed, proxy: MeddlingProxy) => unknown): Failure =>
  async (bed, proxy, setup) => {
    bed.service.on('user_details', json({ username: 'ann' }));
    const { app } = await bed.kept('cached', { ...setup, redis: { port: proxy.port } });
    await begin(bed, proxy);
    return app;
  };

/** Turns a bit of every byte that is not part of a line's end. */
const garbled = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => (byte === 13 || byte === 10 ? byte : byte ^ 2)));

const FAILURES: [what: string, failure: Failure][] = [
  [
    'is away from the start',
    (bed, proxy, setup) => (proxy.cut(), bed.app({ ...setup, redis: { port: proxy.port } })),
  ],
  ['is killed', midway(({ server }) => server.kill())],
  ['hangs', midway((_bed, proxy) => proxy.fallSilent())],
  ['answers garbled bytes', midway((_bed, proxy) => proxy.rewrite(garbled))],
  ['is out of memory', midway(({ redis }) => redis.config('SET', 'maxmemory', '1'))],
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
      'because it %s costs no check its verdict and little time, and is logged once [I01] [I02]',
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
  });
});

describeWithRedis('an instance that receives no messages for a while', () => {
  const start = fleets();

  it('denies a session that was signed out while it got no bytes, as soon as it receives messages again', async () => {
    const fleet = await start();
    const { near, far, proxy } = await fleet.nearAndFar();
    const token = fleet.signIn();
    expect([await near.status(token), await far.status(token)]).toEqual([200, 200]);
    await fleet.key('V');
    proxy.fallSilent();
    fleet.revoke(token);
    expect(await near.do('signOut', token)).toBe('done');
    // No message reaches it: a cached session may live on for its lifetime at most.
    expect(await far.status(token)).toBe(200);

    proxy.restore();
    await until('it denies', async () => (await far.status(token)) === 401);
  });

  it('subscribes as soon as Redis answers, although its first connection never got an answer', async () => {
    const fleet = await start();
    const proxy = await fleet.proxy();
    proxy.fallSilent();
    const instance = await fleet.instance({ redis: { port: proxy.port } });
    expect(await instance.status(fleet.signIn())).toBe(200);
    proxy.restore();
    await fleet.subscribed(1);
  });

  it('denies a session that another one has signed out when its own cache entry has expired [I03]', async () => {
    const fleet = await start();
    const options = { cache: { ttlMs: 1_000 } };
    const [near, far] = (await fleet.instances(2, { options })) as [Instance, Instance];
    const token = fleet.signIn();
    expect([await near.status(token), await far.status(token)]).toEqual([200, 200]);
    await fleet.key('V');
    await fleet.redis.call('ACL', 'SETUSER', 'default', '-publish');
    expect(await near.do('signOut', token)).toBe('done');
    fleet.revoke(token);
    await until('it denies', async () => (await far.status(token)) === 401);
    expect(await far.status(token)).toBe(401);
  });
});
