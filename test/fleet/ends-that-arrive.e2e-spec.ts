import { expect, it } from '@jest/globals';
import { json, reply } from 'nestjs-session-auth/testing';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { CHANNEL, PATIENCE_MS, type Fleet } from './fleet.js';
import type { Instance } from './instance.js';
import { fleets } from './suites.js';

const MANY = 10_001;
const LONG_MS = 60_000;

/** The messages of the fleet from now on. */
async function recordedOn(fleet: Fleet): Promise<Buffer[]> {
  const listener = fleet.redis.duplicate();
  fleet.keep({ close: () => listener.disconnect() });
  const recorded: Buffer[] = [];
  await listener.subscribe(CHANNEL);
  listener.on('messageBuffer', (_channel: Buffer, message: Buffer) => recorded.push(message));
  return recorded;
}

describeWithRedis('an end that a process delivers while it closes', () => {
  const start = fleets();

  it('is received, although its client is still connecting [Q12]', async () => {
    const fleet = await start();
    const [other] = await fleet.instances(1);
    const token = fleet.signIn();
    expect(await other?.status(token)).toBe(200);
    fleet.revoke(token);
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    const letGo = proxy.hold();
    const closing = await fleet.instance({ redis: { port: proxy.port }, ownProcess: true });
    await closing.do('slowTimeouts', 100);
    const forgotten = closing.do('forgetAndClose', 'ann');
    // It answers this when it has begun to close.
    await closing.do('revocations');
    letGo();
    expect(await forgotten).toBe('done');
    await until('it is received', async () => (await other?.do('forgottenUsers'))?.includes('ann') === true);
    expect(await other?.status(token)).toBe(401);
  });

  it('is counted in the log if Redis is away, and the process still ends [Q12]', async () => {
    const fleet = await start();
    const proxy = fleet.keep(await MeddlingProxy.to(fleet.server.port));
    proxy.cut();
    const closing = await fleet.instance({ redis: { port: proxy.port }, ownProcess: true });
    expect(await closing.do('forgetAndClose', 'ann')).toBe('done');
    expect(await closing.do('warnings')).toContainEqual(
      expect.stringContaining('revocations lost: 1 reached neither'),
    );
  });
});

describeWithRedis('many ends', () => {
  const start = fleets();

  it(
    'all arrive: more users than the tables of the instances hold, with Redis and without it for a while [Q11] [Q13]',
    async () => {
      const fleet = await start();
      const [one, other] = await fleet.instances(2);
      const tokens = [0, MANY - 1].map((user) => fleet.signIn({ username: `user ${user}` }));
      for (const token of tokens)
        expect([await one?.status(token), await other?.status(token)]).toEqual([200, 200]);
      for (const token of tokens) fleet.revoke(token);
      expect(await one?.do('forgetUsers', MANY)).toBe('done');
      for (const token of tokens) {
        await until('it is refused', async () => (await other?.status(token)) === 401, LONG_MS);
        expect(await one?.status(token)).toBe(401);
      }
    },
    2 * LONG_MS,
  );
});

describeWithRedis('a writer of the store without the secret', () => {
  const start = fleets();

  it('ends no session again by messages that it has recorded, and sends again to an instance that started later [Q18]', async () => {
    const fleet = await start();
    const [one] = await fleet.instances(1);
    const recorded = await recordedOn(fleet);
    await one?.do('forgetUser', 'ann');
    await until('it is recorded', () => recorded.length === 1);
    const listening = await fleet.listeners();
    const later = await fleet.instance();
    await fleet.subscribed(listening + 1);
    // To date its own message, it reads the clock of Redis.
    await later.do('forgetUser', 'carl');
    await fleet.redis.publish(CHANNEL, recorded[0] ?? '');
    await one?.do('forgetUser', 'bob');
    await until('the next one arrives', async () => (await later.do('forgottenUsers')).includes('bob'));
    expect(await later.do('forgottenUsers')).toEqual(['carl', 'bob']);
  });
});

describeWithRedis('instances with another secret', () => {
  const start = fleets();

  it('count each message that they can not open, and say so once [Q21]', async () => {
    const fleet = await start();
    const one = await fleet.instance({ store: { secret: 'the secret of one' } });
    const other = await fleet.instance({ store: { secret: 'the secret of the other' } });
    await fleet.receiving(one, other);
    const sent = await recordedOn(fleet);
    fleet.service.on('user_details', json({ username: 'ann' }));
    for (const username of ['ann', 'bob', 'eve']) await one.do('forgetUser', username);
    // On a busy machine, a message whose answer is late is sent again.
    await until(
      'they are counted',
      async () => sent.length >= 3 && (await other.do('unreadable')) === sent.length,
    );
    const warnings = await other.do('warnings');
    expect(warnings.filter((line) => line.includes('unreadable messages'))).toHaveLength(1);
    expect(await one.do('unreadable')).toBe(0);
  });
});

describeWithRedis('instances with different lifetimes', () => {
  const start = fleets();
  const SHORT_MS = 500;

  it.each([
    ['a user', (instance: Instance) => instance.do('forgetUser', 'ann')],
    ['all users', (instance: Instance) => instance.do('forgetAll')],
  ])(
    'all honour the end of %s, on one that caches for less: it lasts as long as the longest lifetime [Q16]',
    async (_whose, end) => {
      const fleet = await start();
      const [long] = await fleet.instances(1);
      const short = await fleet.instance({ platform: 'Fastify', options: { cache: { ttlMs: SHORT_MS } } });
      await fleet.receiving(...(long ? [long] : []), short);
      const token = fleet.signIn();
      expect(await long?.status(token)).toBe(200);
      const key = await fleet.key('V');
      fleet.revoke(token);
      expect(await end(short)).toBe('done');
      const endMs = performance.now();
      await until('its own lifetime is over', () => performance.now() - endMs > 2 * SHORT_MS);
      const later = await fleet.instance();
      expect([await fleet.redis.exists(key), await later.status(token), await long?.status(token)]).toEqual([
        1, 401, 401,
      ]);
    },
  );

  it.each(['Express', 'Fastify'] as const)(
    'none keeps what another one stored for longer than the reply allows, nor than the other one would, on %s [Q16]',
    async (platform) => {
      const fleet = await start();
      const short = await fleet.instance({ options: { cache: { ttlMs: 2_000 } } });
      const long = await fleet.instance({ platform });
      await fleet.receiving(short, long);
      for (const headers of [{ 'cache-control': 'max-age=1' }, {}]) {
        const token = `token-${Object.keys(headers).length}`;
        const record = JSON.stringify({ username: 'ann', auth_token: token });
        fleet.service.on(
          'user_details',
          reply(200, record, { 'content-type': 'application/json', ...headers }),
        );
        const startMs = performance.now();
        expect(await short.status(token)).toBe(200);
        await fleet.key('V');
        expect(await long.status(token)).toBe(200);
        fleet.service.on('user_details', reply(401));
        let acceptedMs = 0;
        await until('it is denied', async () => {
          const ageMs = performance.now() - startMs;
          const isAccepted = (await long.status(token)) === 200;
          if (isAccepted) acceptedMs = ageMs;
          return !isAccepted;
        });
        expect(acceptedMs).toBeLessThan((headers['cache-control'] ? 1_000 : 2_000) + PATIENCE_MS);
        await fleet.redis.flushall();
      }
    },
  );
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
