import { expect, it } from '@jest/globals';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import type { Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { fleets } from './suites.js';

const TTL_MS = 2_000;
/**
 * The longest time of a look-up, which adds to the age of what it finds: the store's `timeoutMs` in these
 * fleets.
 */
const STORE_TIMEOUT_MS = 1_000;
const PLATFORMS = ['Express', 'Fastify', 'Express'] as const;

/**
 * Sets the clock of Redis back, as its clients see it: the times that it returns, and how long its entries
 * last.
 */
async function setRedisBack(fleet: Fleet, proxy: MeddlingProxy, stepMs: number): Promise<void> {
  const earlier = (_reply: string, timeMs: string): string => `\r\n:${Number(timeMs) - stepMs}\r\n`;
  proxy.rewrite((bytes) =>
    Buffer.from(bytes.toString('latin1').replace(/\r\n:(\d{13})\r\n/g, earlier), 'latin1'),
  );
  for (const key of await fleet.entries())
    await fleet.redis.pexpire(key, (await fleet.redis.pttl(key)) + stepMs);
}

describeWithRedis('clocks that are set back, of all hosts and of Redis', () => {
  const start = fleets();

  for (const stepMs of [10_000, 3_600_000])
    it(`by ${stepMs} ms make no lifetime longer, neither of cached nor of stored sessions, on any instance [Q14]`, async () => {
      const fleet = await start();
      const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
      const all = await Promise.all(
        PLATFORMS.map((platform) =>
          fleet.instance({
            platform,
            redis: { port: proxy.port },
            ownProcess: true,
            options: { cache: { ttlMs: TTL_MS } },
          }),
        ),
      );
      for (const instance of all) await instance.do('connected');
      await fleet.receiving(...all);
      const [one, other, third] = all as [Instance, Instance, Instance];
      const startMs = performance.now();
      const token = fleet.signIn();
      expect([await one.status(token), await other.status(token)]).toEqual([200, 200]);
      await fleet.key('V');
      // Only lifetimes may end this session.
      await fleet.redis.call('ACL', 'SETUSER', 'default', '-publish');
      fleet.revoke(token);

      await setRedisBack(fleet, proxy, stepMs);
      for (const instance of all) await instance.do('setClockBack', stepMs);
      const ages: number[] = [];
      const deny = (instances: readonly Instance[]): Promise<void> =>
        until('every instance denies', async () => {
          const ageMs = performance.now() - startMs;
          const statuses = await Promise.all(instances.map((instance) => instance.status(token)));
          if (statuses.includes(200)) ages.push(ageMs);
          return statuses.every((status) => status === 401);
        });
      // It has only the store, from which the others would delete the session.
      await deny([third]);
      await deny(all);
      expect(ages.filter((ageMs) => !(ageMs < TTL_MS + STORE_TIMEOUT_MS))).toEqual([]);
    });
});
