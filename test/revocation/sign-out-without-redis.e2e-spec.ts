import { expect } from '@jest/globals';
import { fleets } from '../fleet/suites.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { plainRow } from '../support/trial/row.js';

describeWithRedis('a sign-out', () => {
  const start = fleets();

  plainRow('while its instance has no Redis, is told to the other instances when Redis is back [Q04]', async () => {
    const fleet = await start();
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    const near = await fleet.instance();
    const far = await fleet.instance({ redis: { port: proxy.port }, platform: 'Fastify' });
    await fleet.hear(2);
    const token = fleet.signIn();
    expect([await far.status(token), await near.status(token), fleet.asked]).toEqual([200, 200, 1]);
    proxy.cut();
    fleet.revoke(token);
    expect(await far.do('signOut', token)).toBe('done');
    // The other instance has lost no message and keeps what it has, until it is told.
    expect([await near.status(token), fleet.asked]).toEqual([200, 1]);
    proxy.restore();
    await until('the other instance is told', async () => (await near.do('endsOf', token)) === 1);
    expect(await near.status(token)).toBe(401);
  });

  plainRow('leaves nothing of the session in a full Redis [Q07]', async () => {
    const fleet = await start();
    const instance = await fleet.instance();
    const token = fleet.signIn();
    await instance.status(token);
    await fleet.key('V');
    await fleet.redis.config('SET', 'maxmemory', '1');
    expect(await instance.do('signOut', token)).toBe('done');
    expect(await fleet.entries()).toEqual([]);
    await fleet.redis.config('SET', 'maxmemory', '0');
    await fleet.key('E');
  });
});
