import { expect, it } from '@jest/globals';
import { json, reply } from 'nestjs-session-auth/testing';
import { randomBytes } from 'node:crypto';
import { platforms } from '../support/platforms.js';
import { describeWithRedis, redisClient } from '../support/redis.js';
import { until } from '../support/until.js';
import { canariesIn, formsOf, IV, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { SharedStore } from './shared-store.js';
import { fleets, sharedFleet, type SharedFleet } from './suites.js';
import { CHANNEL, PATIENCE_MS } from './fleet.js';

const TTL_MS = 300_000;
const SHORT_TTL_MS = 1_000;
/**
 * The time limit of a check while the store is down: its 50 ms and the delay of a busy machine, far below the
 * total time.
 */
const MAX_MEDIAN_MS = 2_500;
const WARNING = 'session store unavailable';

describeWithRedis.each(platforms('Express'))('a store that is shared, on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const store = SharedStore.forSuite();

  /** Cold checks: each is decided by the service, soon. */
  async function expectServiceDecides(trial: Trial, name: string): Promise<void> {
    const first = trial.answers.length;
    for (let index = 0; index < 20; index += 1) {
      const status = index % 2 === 0 ? 200 : 401;
      trial.service.on('user_details', status === 200 ? json(ANN) : reply(status));
      const before = trial.calls();
      expect([await trial.status({ token: `${TOKEN}-${name}-${index}` }), trial.calls() - before]).toEqual([
        status,
        1,
      ]);
    }
    const times = trial.answers.slice(first).map(({ tookMs }) => tookMs);
    expect(times.sort((one, other) => one - other)[times.length / 2]).toBeLessThan(MAX_MEDIAN_MS);
  }

  async function expectOneWarning({ log }: Trial): Promise<void> {
    await until('the warning is logged', () => log.having('warn', WARNING).length > 0);
    expect(log.having('warn', WARNING)).toHaveLength(1);
  }

  row(
    'while Redis is down, at startup or later, checks make calls, cached sessions are served, and one warning a minute is logged [I01]',
    async (trial) => {
      await expectServiceDecides(trial, 'start');
      await expectOneWarning(trial);
      store.proxy.restore();
      const app = await trial.keepApp(store.options(TTL_MS));
      const token = `${TOKEN}-cached`;
      trial.service.on('user_details', json(ANN));
      await store.connected(trial, app.url);
      await trial.status({ at: app.url, token });
      store.proxy.cut();
      const before = trial.calls();
      expect([await trial.status({ at: app.url, token }), trial.calls() - before]).toEqual([200, 0]);
      await expectServiceDecides(trial, 'later');
    },
    store.row(TTL_MS, () => store.proxy.cut()),
  );

  row(
    'a Redis that accepts connections and stays silent costs a check no more than its time limit, and then nothing [I02]',
    async (trial) => {
      await expectServiceDecides(trial, 'one');
      await expectServiceDecides(trial, 'another');
      await expectOneWarning(trial);
    },
    store.row(TTL_MS, () => store.proxy.fallSilent()),
  );

  row(
    'a session that one instance signs out is denied by another that has cached it: by the message, or else by the tombstone [I03]',
    async (trial) => {
      const near = await trial.keepApp(store.options(TTL_MS, PATIENCE_MS));
      for (const cut of [false, true]) {
        const ttlMs = cut ? SHORT_TTL_MS : TTL_MS;
        const far = await trial.keepApp(store.options(ttlMs, PATIENCE_MS));
        const token = `${TOKEN}-${ttlMs}`;
        trial.service.on('user_details', json(ANN));
        await until(
          'all listen',
          async () =>
            Number((await store.redis.pubsub('NUMSUB', 'session-auth:messages'))[1]) === (cut ? 4 : 3),
        );
        expect([
          await trial.status({ at: far.url, token }),
          await trial.status({ at: near.url, token }),
        ]).toEqual([200, 200]);
        if (cut) {
          await store.redis.call('ACL', 'SETUSER', 'default', '-publish');
          await expect(store.redis.publish('session-auth:messages', 'x')).rejects.toThrow('NOPERM');
        }
        await trial.status({ at: near.url, token, method: 'DELETE', path: '/logout' });
        trial.service.on('user_details', reply(401));
        await until('it denies', async () => (await trial.status({ at: far.url, token })) === 401);
        for (let again = 0; again < 10; again += 1)
          expect(await trial.status({ at: far.url, token })).toBe(401);
        await store.redis.call('ACL', 'SETUSER', 'default', '+publish');
      }
    },
    store.row(TTL_MS),
  );

  row(
    'a dump of all keys and values of Redis holds no token, key, IV, email, username or role in clear [I04]',
    async (trial) => {
      const user = { username: 'canary-username', email: 'canary@example.com', role: 'canary-role' };
      trial.service.on('user_details', (...call) =>
        json({ ...user, auth_token: call[0].headers['x-auth-token'] })(...call),
      );
      await store.connected(trial);
      for (const iv of [IV, null]) await trial.status({ token: `${TOKEN}-${iv}`, iv });
      await trial.status({ token: `${TOKEN}-${IV}`, method: 'DELETE', path: '/logout' });
      const texts = await store.dump();
      expect(texts.some((text) => text.startsWith('E'))).toBe(true);
      const text = texts.join('\n').toLowerCase();
      expect(canariesIn(text)).toEqual([]);
      const names = [user.username, user.email, user.role].flatMap((name) => formsOf(name));
      expect(names.filter((name) => text.includes(name.toLowerCase()))).toEqual([]);
    },
    store.row(TTL_MS),
  );
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

  it.each([
    ['is away', (proxy: MeddlingProxy) => proxy.cut()],
    ['hangs', (proxy: MeddlingProxy) => proxy.fallSilent()],
  ])('ends by itself while Redis %s, with sign-outs that it could not publish', async (_how, interrupt) => {
    const fleet = await start();
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    const instance = await fleet.instance({
      redis: { port: proxy.port },
      platform: 'Fastify',
      ownProcess: true,
    });
    await fleet.subscribed(1);
    interrupt(proxy);
    expect(await instance.do('signOut', fleet.signIn())).toBe('done');
    await instance.do('closeApp');
    await instance.do('dropClient');
    expect(await instance.exit).toBe(0);
  });
});

async function publishedDuring(fleet: SharedFleet, act: () => Promise<unknown>): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  const listener = redisClient(fleet.server.port);
  await listener.subscribe(CHANNEL);
  listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => messages.push(message));
  await act();
  await until('a message is published', () => messages.length > 0);
  listener.disconnect();
  return messages;
}

describeWithRedis('a message of another sender on the revocation bus', () => {
  const shared = sharedFleet(2);

  /** Resolves when all instances have received every earlier message. */
  async function received(fleet: SharedFleet): Promise<void> {
    const token = fleet.signIn();
    await fleet.all[0].do('signOut', token);
    for (const instance of fleet.all)
      await until(
        'a later revocation is emitted',
        async () => (await instance.do('revocationsOf', token)) === 1,
      );
  }

  it('revokes nothing if it is forged, cut short, altered or nonsense', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const [ended, token] = [fleet.signIn(), fleet.signIn()];
    const [message = Buffer.alloc(0)] = await publishedDuring(fleet, () => one.do('signOut', ended));
    const altered = Array.from(message, (_byte, index) =>
      Buffer.from(message.map((byte, at) => (at === index ? byte ^ 1 : byte))),
    );
    await fleet.all[1].status(token);
    const [emitted, asked] = [await other.do('revocations'), fleet.asked];

    const forged = JSON.stringify({ kind: 'signedOut', token, at: Date.now() });
    const nonsense = [
      '',
      'x',
      forged,
      '{}',
      '\u0001',
      randomBytes(100),
      randomBytes(256),
      Buffer.alloc(1_000_000, 1),
    ];
    const short = [1, 12, 13, 28, 29, message.length - 1].map((length) => message.subarray(0, length));
    for (const bytes of [...nonsense, ...altered, ...short, Buffer.concat([message, Buffer.of(0)])])
      await fleet.redis.publish(CHANNEL, bytes);
    await received(fleet);
    expect([await other.do('revocations'), await other.status(token), fleet.asked]).toEqual([
      emitted + 1,
      200,
      asked,
    ]);
  });

  it('revokes nothing if it is a recorded message, published again', async () => {
    const fleet = shared();
    const [one, other] = fleet.all;
    const token = fleet.signIn();
    await other.status(token);
    const messages = await publishedDuring(fleet, () => one.do('signOut', token));
    fleet.service.on('sign_in', json({ username: 'ann', auth_token: token }));
    // The service issues the same token again, so that its recorded revocation would do harm.
    for (const instance of fleet.all) expect(await instance.do('signIn', 'ann')).toBe('done');
    await until('the tombstone is gone', async () => (await fleet.redis.keys('*')).length === 0);
    for (const instance of fleet.all) expect(await instance.status(token)).toBe(200);
    const [emitted, asked] = [await other.do('revocations'), fleet.asked];

    for (const message of Array.from({ length: 10 }, () => messages).flat())
      await fleet.redis.publish(CHANNEL, message);
    await received(fleet);
    for (const instance of fleet.all) expect(await instance.status(token)).toBe(200);
    expect([await other.do('revocations'), fleet.asked]).toEqual([emitted + 1, asked]);
  });

  it('costs no request its verdict, be it ten thousand times', async () => {
    const fleet = shared();
    // Fewer than there are places for calls of strangers: none has to wait for one on a busy machine.
    const tokens = Array.from({ length: 25 }, () => fleet.signIn());
    const flood = Promise.all(
      Array.from({ length: 10_000 }, () => fleet.redis.publish(CHANNEL, randomBytes(128))),
    );
    const statuses = await Promise.all(
      fleet.all.flatMap((instance) => tokens.map((token) => instance.status(token))),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    const reached = await flood;
    expect(new Set(reached)).toEqual(new Set([2]));
    await received(fleet);
  });
});
