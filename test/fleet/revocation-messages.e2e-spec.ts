import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { json } from 'nestjs-session-auth/testing';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { CHANNEL } from './fleet.js';
import { sharedFleet, TIMEOUT_MS, type SharedFleet } from './suites.js';

/** Everything that is announced while something happens. */
async function announcedBy(fleet: SharedFleet, act: () => Promise<unknown>): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  const listener = new Redis(fleet.server.port, '127.0.0.1');
  await listener.subscribe(CHANNEL);
  listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => messages.push(message));
  await act();
  await until('something is announced', () => messages.length > 0);
  listener.disconnect();
  return messages;
}

describeWithRedis('what somebody else says where instances announce the ends of sessions', () => {
  const shared = sharedFleet(2);

  /** Resolves when all have heard what was said before. */
  async function heard(fleet: SharedFleet): Promise<void> {
    const token = fleet.signIn();
    await fleet.all[0].do('signOut', token);
    for (const instance of fleet.all) await until('a later end is told', async () => (await instance.do('endsOf', token)) === 1);
  }

  it('ends nothing when it is forged, cut short, altered or nonsense', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const [ended, token] = [fleet.signIn(), fleet.signIn()];
    const [message = Buffer.alloc(0)] = await announcedBy(fleet, () => one.do('signOut', ended));
    const altered = Array.from(message, (_byte, index) => Buffer.from(message.map((byte, at) => (at === index ? byte ^ 1 : byte))));
    await fleet.all[1].status(token);
    const [told, asked] = [await other.do('ends'), fleet.asked];

    const forged = JSON.stringify({ kind: 'ended', token, at: Date.now() });
    const nonsense = ['', 'x', forged, '{}', '\u0001', randomBytes(100), randomBytes(256), Buffer.alloc(1_000_000, 1)];
    const short = [1, 12, 13, 28, 29, message.length - 1].map((length) => message.subarray(0, length));
    for (const said of [...nonsense, ...altered, ...short, Buffer.concat([message, Buffer.of(0)])])
      await fleet.redis.publish(CHANNEL, said);
    await heard(fleet);
    expect([await other.do('ends'), await other.status(token), fleet.asked]).toEqual([told + 1, 200, asked]);
  });

  it('ends nothing when it was announced before and is said again', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const token = fleet.signIn();
    await other.status(token);
    const messages = await announcedBy(fleet, () => one.do('signOut', token));
    fleet.service.on('sign_in', json({ username: 'ann', auth_token: token }));
    // A service that gives a token again makes a recorded end of it worth saying again.
    for (const instance of fleet.all) expect(await instance.do('signIn', 'ann')).toBe('done');
    await until('the mark is gone', async () => (await fleet.redis.keys('*')).length === 0);
    for (const instance of fleet.all) expect(await instance.status(token)).toBe(200);
    const [told, asked] = [await other.do('ends'), fleet.asked];

    for (const message of messages) await fleet.redis.publish(CHANNEL, message);
    await heard(fleet);
    for (const instance of fleet.all) expect(await instance.status(token)).toBe(200);
    expect([await other.do('ends'), fleet.asked]).toEqual([told + 1, asked]);
  });

  it(
    'costs no request its verdict, be it ten thousand times',
    async () => {
      const fleet = shared();
      const tokens = Array.from({ length: 100 }, () => fleet.signIn());
      const flood = Promise.all(Array.from({ length: 10_000 }, () => fleet.redis.publish(CHANNEL, randomBytes(128))));
      const statuses = await Promise.all(fleet.all.flatMap((instance) => tokens.map((token) => instance.status(token))));
      expect(new Set(statuses)).toEqual(new Set([200]));
      const reached = await flood;
      expect(new Set(reached)).toEqual(new Set([2]));
      await heard(fleet);
    },
    TIMEOUT_MS,
  );
});
