import { expect, it } from '@jest/globals';
import { hold, reply } from 'nestjs-session-auth/testing';
import { describeWithRedis, redisClient } from '../support/redis.js';
import { until } from '../support/until.js';
import { CHANNEL } from '../fleet/fleet.js';
import type { Instance } from '../fleet/instance.js';
import { expectAskedOnce, sharedFleet, fleets, type SharedFleet } from '../fleet/suites.js';

/**
 * Waits far less than the lifetime of 60 s: an instance that denies within that time has received the
 * revocation.
 */
const denies = (instance: Instance, token: string): Promise<void> =>
  until('the instance denies', async () => (await instance.status(token)) === 401);

const emits = (instance: Instance, token: string): Promise<void> =>
  until('its revocation is emitted', async () => (await instance.do('revocationsOf', token)) === 1);

describeWithRedis('a session that three instances have cached', () => {
  const shared = sharedFleet(3);

  async function cachedByAll(fleet: SharedFleet): Promise<string> {
    const token = fleet.signIn();
    await expectAskedOnce(fleet, fleet.all, token);
    return token;
  }

  it('gets a tombstone in the store, is then signed out at the service, and then a revocation message is published', async () => {
    const fleet = shared();
    const token = await cachedByAll(fleet);
    const received: string[] = [];
    const listener = redisClient(fleet.server.port);
    await listener.subscribe(CHANNEL);
    listener.on('message', () =>
      received.push(fleet.service.callsTo('sign_out') === 1 ? 'after the service' : 'too early'),
    );
    const held = hold(reply(200));
    fleet.service.on('sign_out', held.script);

    const signedOut = fleet.all[0].do('signOut', token);
    await held.arrived;
    await fleet.key('E');
    expect([
      received,
      await fleet.all[0].do('revocationsOf', token),
      await fleet.all[1].do('revocationsOf', token),
    ]).toEqual([[], 0, 0]);
    held.release();
    expect(await signedOut).toBe('done');
    await until('the revocation is published', () => received.length > 0);
    expect(received).toEqual(['after the service']);
    listener.disconnect();
  });

  it('is denied by all as soon as one has signed it out, and each emits one revocation for each sign-out', async () => {
    const fleet = shared();
    const token = await cachedByAll(fleet);
    fleet.revoke(token);
    expect(await fleet.all[0].do('signOut', token)).toBe('done');
    for (const instance of fleet.all) await denies(instance, token);
    for (const instance of fleet.all) expect(await instance.do('revocationsOf', token)).toBe(1);
    // A second sign-out is emitted again: a sign-in may have issued the token in between.
    expect(await fleet.all[1].do('signOut', token)).toBe('done');
    for (const instance of fleet.all)
      await until('each emits another', async () => (await instance.do('revocationsOf', token)) === 2);
  });

  it('is checked again by all after forget on one of them, which emits no revocation', async () => {
    const fleet = shared();
    const [one, ...others] = fleet.all;
    const token = await cachedByAll(fleet);
    expect(await one.do('forget', token)).toBe('done');
    fleet.revoke(token);
    for (const instance of others) await denies(instance, token);
    expect([await one.do('revocationsOf', token), await one.status(token)]).toEqual([0, 401]);
  });

  it('is evicted by all when the service refuses it on an instance that has not cached it, and each emits one revocation at most', async () => {
    const fleet = shared();
    const [one, ...others] = fleet.all;
    const token = fleet.signIn();
    for (const instance of others) expect(await instance.status(token)).toBe(200);
    await fleet.key('V');
    fleet.revoke(token);

    expect(await one.do('userDetails', token)).toBe('SESSION_REJECTED');
    for (const instance of others) await denies(instance, token);
    for (const instance of others) await emits(instance, token);
    expect(await one.do('revocationsOf', token)).toBeLessThanOrEqual(1);
  });
});

describeWithRedis('an unknown token', () => {
  const shared = sharedFleet(2);

  it('is refused by all, and no revocation is emitted', async () => {
    const fleet = shared();
    for (const instance of fleet.all) {
      expect(await instance.status('nobody')).toBe(401);
      expect(await instance.do('verify', 'nobody', { maxAgeMs: 0 })).toBe('SESSION_REJECTED');
      expect(await instance.do('userDetails', 'nobody')).toBe('SESSION_REJECTED');
    }
    // Messages arrive in order: a revocation of the unknown token would arrive before this one.
    const token = fleet.signIn();
    await fleet.all[0].do('signOut', token);
    for (const instance of fleet.all) await emits(instance, token);
    for (const instance of fleet.all) expect(await instance.do('revocations')).toBe(1);
  });
});

describeWithRedis('a sign-out', () => {
  const start = fleets();

  it('while its instance has no Redis, is published to the other instances when Redis is back [Q04]', async () => {
    const fleet = await start();
    const { near, far, proxy } = await fleet.nearAndFar();
    const token = fleet.signIn();
    await expectAskedOnce(fleet, [far, near], token);
    proxy.cut();
    fleet.revoke(token);
    expect(await far.do('signOut', token)).toBe('done');
    // The other instance has lost no message and keeps its entries until it receives the revocation.
    expect([await near.status(token), fleet.asked]).toEqual([200, 1]);
    proxy.restore();
    await emits(near, token);
    expect(await near.status(token)).toBe(401);
  });

  it('leaves nothing of the session in a full Redis [Q07]', async () => {
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
