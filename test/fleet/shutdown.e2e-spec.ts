import { expect, it } from '@jest/globals';
import { describeWithRedis } from '../support/redis.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { fleets, TIMEOUT_MS } from './suites.js';

describeWithRedis('an application with a store that closes', () => {
  const start = fleets();

  it(
    'leaves the client to whoever made it, and its process ends by itself when that is closed',
    async () => {
      const fleet = await start();
      const instance = await fleet.instance();
      await fleet.hear(1);
      expect(await instance.status(fleet.signIn())).toBe(200);
      await instance.do('closeApp');
      expect([await instance.do('quitClient'), await instance.exit]).toEqual(['PONG', 0]);
      expect(await fleet.listeners()).toBe(0);
    },
    TIMEOUT_MS,
  );

  it.each([
    ['is away', (proxy: MeddlingProxy) => proxy.cut()],
    ['hangs', (proxy: MeddlingProxy) => proxy.fallSilent()],
  ])(
    'does so while Redis %s, with sign-outs that it could not tell',
    async (_how, interrupt) => {
      const fleet = await start();
      const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
      const instance = await fleet.instance({ redis: { port: proxy.port }, platform: 'Fastify' });
      await fleet.hear(1);
      interrupt(proxy);
      expect(await instance.do('signOut', fleet.signIn())).toBe('done');
      await instance.do('closeApp');
      await instance.do('dropClient');
      expect(await instance.exit).toBe(0);
    },
    TIMEOUT_MS,
  );
});
