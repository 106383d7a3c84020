import { expect, it } from '@jest/globals';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import type { Instance } from './instance.js';
import { fleets } from './suites.js';

describeWithRedis('an end that a process delivers while it closes', () => {
  const start = fleets();

  it('is counted in the log if Redis is away, and the process still ends [Q12]', async () => {
    const fleet = await start();
    const proxy = await fleet.proxy();
    proxy.cut();
    const closing = await fleet.instance({ redis: { port: proxy.port }, ownProcess: true });
    expect(await closing.do('forgetAndClose', 'ann')).toBe('done');
    expect(await closing.do('warnings')).toContainEqual(
      expect.stringContaining('revocations lost: 1 reached neither'),
    );
  });
});

describeWithRedis('an application with a store that closes', () => {
  const start = fleets();

  it('does not close the client of the application, and its process ends by itself when that is closed', async () => {
    const fleet = await start();
    const instance = await fleet.instance({ ownProcess: true });
    await fleet.subscribed(1);
    expect(await instance.status(fleet.signIn())).toBe(200);
    await instance.do('closeApp');
    expect([await instance.do('quitClient'), await instance.exit]).toEqual(['PONG', 0]);
    expect(await fleet.listeners()).toBe(0);
  });

  it('ends by itself while Redis hangs, with sign-outs that it could not publish', async () => {
    const fleet = await start();
    const proxy = await fleet.proxy();
    const redis = { port: proxy.port };
    const instance = await fleet.instance({ redis, platform: 'Fastify', ownProcess: true });
    await fleet.subscribed(1);
    proxy.fallSilent();
    expect(await instance.do('signOut', fleet.signIn())).toBe('done');
    await instance.do('closeApp');
    await instance.do('dropClient');
    expect(await instance.exit).toBe(0);
  });
});

describeWithRedis('instances with different lifetimes', () => {
  const start = fleets();
  const SHORT_MS = 500;

  it('all honour the end of a user on one that caches for less: it lasts as long as the longest lifetime [Q16]', async () => {
    const fleet = await start();
    const [long] = (await fleet.instances(1)) as [Instance];
    const short = await fleet.instance({ platform: 'Fastify', options: { cache: { ttlMs: SHORT_MS } } });
    await fleet.receiving(long, short);
    const token = fleet.signIn();
    expect(await long.status(token)).toBe(200);
    const key = await fleet.key('V');
    fleet.revoke(token);
    expect(await short.do('forgetUser', 'ann')).toBe('done');
    const endMs = performance.now();
    await until('its own lifetime is over', () => performance.now() - endMs > 2 * SHORT_MS);
    const later = await fleet.instance();
    expect(await fleet.redis.exists(key)).toBe(1);
    expect([await later.status(token), await long.status(token)]).toEqual([401, 401]);
  });
});

describeWithRedis('a user whose name the record class changes', () => {
  const start = fleets();

  it.each(['ANN', 'ann'])(
    'is forgotten on every instance, and in the store, by either spelling: %s [Q17]',
    async (username) => {
      const fleet = await start();
      const [one, other, third] = (await fleet.instances(3, { lowerCaseNames: true })) as [
        Instance,
        Instance,
        Instance,
      ];
      const token = fleet.signIn({ username: 'ANN' });
      expect(await (await other.get(token)).json()).toMatchObject({ username: 'ann' });
      await fleet.key('V');
      fleet.revoke(token);
      expect(await one.do('forgetUser', username)).toBe('done');
      await until('it is received', async () => (await other.do('forgottenUsers')).includes(username));
      for (const instance of [other, one, third]) expect(await instance.status(token)).toBe(401);
    },
  );
});
