import { expect, it } from '@jest/globals';
import { describeWithRedis } from '../support/redis.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { until } from '../support/until.js';
import { CHANNEL, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { fleets, TIMEOUT_MS } from './suites.js';

/** The commands that instances need of Redis, on its one prefix; some more or fewer of them. */
const acl = (...rules: string[]): string[] => ['reset', 'on', '>password', '~session-auth:*', '&session-auth:*', '+@all', ...rules];

interface Pair {
  /** Reaches Redis directly. */
  readonly near: Instance;
  /** Reaches Redis by the proxy. */
  readonly far: Instance;
  readonly proxy: MeddlingProxy;
  readonly token: string;
}

describeWithRedis('an instance that hears nothing for a while', () => {
  const start = fleets();

  async function pairOf(fleet: Fleet): Promise<Pair> {
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    const [near, far] = await Promise.all([fleet.instance(), fleet.instance({ redis: { port: proxy.port }, platform: 'Fastify' })]);
    await fleet.hear(2);
    const token = fleet.signIn();
    expect([await near.status(token), await far.status(token)]).toEqual([200, 200]);
    await fleet.key('V');
    return { near, far, proxy, token };
  }

  it.each([
    ['was cut off', (proxy: MeddlingProxy) => proxy.cut()],
    ['got no bytes any more', (proxy: MeddlingProxy) => proxy.fallSilent()],
  ])(
    'serves no session from memory that was signed out while it %s, as soon as it hears again',
    async (_how, interrupt) => {
      const fleet = await start();
      const { near, far, proxy, token } = await pairOf(fleet);
      interrupt(proxy);
      fleet.revoke(token);
      expect(await near.do('signOut', token)).toBe('done');
      // Nobody could tell it: this is the price of a memory, for its lifetime at most.
      expect(await far.status(token)).toBe(200);

      proxy.restore();
      await until('it denies', async () => (await far.status(token)) === 401);
      await until('it hears again', async () => (await fleet.listeners()) >= 2);
      const next = fleet.signIn();
      await until('the far one hears of ends', async () => {
        await near.do('signOut', next);
        return (await far.do('endsOf', next)) === 1;
      });
    },
    TIMEOUT_MS,
  );

  it(
    'hears as soon as Redis answers, though its first connection never got an answer',
    async () => {
      const fleet = await start();
      const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
      proxy.fallSilent();
      const instance = await fleet.instance({ redis: { port: proxy.port } });
      expect(await instance.status(fleet.signIn())).toBe(200);
      proxy.restore();
      await fleet.hear(1);
    },
    TIMEOUT_MS,
  );

  it(
    'has its sign-outs told to Redis as soon as it is back, though they were made while it was away',
    async () => {
      const fleet = await start();
      const { far, proxy } = await pairOf(fleet);
      proxy.cut();
      const tokens = Array.from({ length: 5 }, () => fleet.signIn());
      for (const token of tokens) expect(await far.do('signOut', token)).toBe('done');
      proxy.restore();
      await until('all marks are there', async () => {
        const keys = await fleet.redis.keys('*');
        const values = await Promise.all(keys.map((key) => fleet.redis.getrange(key, 0, -1)));
        return values.filter((value) => value === 'E').length === tokens.length;
      });
    },
    TIMEOUT_MS,
  );

  it.each([
    ['no instance may announce', ['-publish'], []],
    ['it may not listen', [], ['resetchannels']],
  ])(
    'denies a session that another one signed out when its memory has lapsed, where %s',
    async (_why, ofNear, ofFar) => {
      const fleet = await start();
      await fleet.redis.call('ACL', 'SETUSER', 'near', ...acl(...ofNear));
      await fleet.redis.call('ACL', 'SETUSER', 'far', ...acl(...ofFar));
      const as = (username: string) => ({ redis: { port: fleet.server.port, options: { username, password: 'password' } } });
      const options = { cache: { ttlMs: 3_000 } };
      const near = await fleet.instance({ ...as('near'), options });
      const far = await fleet.instance({ ...as('far'), options, platform: 'Fastify' });
      // A subscription evicts what was cached before it.
      await fleet.hear(ofFar.length === 0 ? 2 : 1);
      const token = fleet.signIn();
      expect([await far.status(token), await near.status(token), fleet.asked]).toEqual([200, 200, 1]);
      await fleet.key('V');

      // The service has not ended it, which shows that the mark does.
      const before = fleet.asked;
      expect(await near.do('signOut', token)).toBe('done');
      expect(await far.status(token)).toBe(200);
      expect(fleet.asked).toBe(before);
      await until('it asks the service', async () => (await far.status(token)) === 200 && fleet.asked > before);
      fleet.revoke(token);
      expect(await far.status(token)).toBe(401);
      expect(await fleet.listeners(CHANNEL)).toBe(ofFar.length === 0 ? 2 : 1);
    },
    TIMEOUT_MS,
  );
});
