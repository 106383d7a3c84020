import { expect } from '@jest/globals';
import { json, reply } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { canariesIn, formsOf, IV, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { PATIENCE_MS, SharedStore } from './shared-store.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const TTL_MS = 300_000;
const SHORT_TTL_MS = 1_000;
/** What a check may take while the store is away: its 50 ms and what a busy machine adds, far below the total time. */
const MAX_MEDIAN_MS = 2_500;
const WARNING = 'session store unavailable';

describeWithRedis.each(PLATFORMS)('a store that is shared, on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const store = SharedStore.forSuite();

  /** Cold checks: each is decided by the service, soon. */
  async function expectServiceDecides(trial: Trial, name: string): Promise<void> {
    const first = trial.answers.length;
    for (let index = 0; index < 20; index += 1) {
      const status = index % 2 === 0 ? 200 : 401;
      trial.service.on('user_details', status === 200 ? json(ANN) : reply(status));
      const before = trial.calls();
      expect([await trial.status({ token: `${TOKEN}-${name}-${index}` }), trial.calls() - before]).toEqual([status, 1]);
    }
    const times = trial.answers.slice(first).map(({ tookMs }) => tookMs);
    expect(times.sort((one, other) => one - other)[times.length / 2]).toBeLessThan(MAX_MEDIAN_MS);
  }

  async function expectOneWarning({ log }: Trial): Promise<void> {
    await until('it is told', () => log.having('warn', WARNING).length > 0);
    expect(log.having('warn', WARNING)).toHaveLength(1);
  }

  row(
    'while Redis is down, at the start or later, the service decides, memory still answers, and one warning a minute tells it [I01]',
    async (trial) => {
      await expectServiceDecides(trial, 'start');
      await expectOneWarning(trial);
      store.proxy.restore();
      const app = await trial.keepApp(store.options(TTL_MS));
      const token = `${TOKEN}-remembered`;
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
    'a session that one instance signs out is denied by another that remembers it, soon by its broadcast, and by its mark without [I03]',
    async (trial) => {
      const near = await trial.keepApp(store.options(TTL_MS, PATIENCE_MS));
      for (const cut of [false, true]) {
        const ttlMs = cut ? SHORT_TTL_MS : TTL_MS;
        const far = await trial.keepApp(store.options(ttlMs, PATIENCE_MS));
        const token = `${TOKEN}-${ttlMs}`;
        trial.service.on('user_details', json(ANN));
        await until('all listen', async () => Number((await store.redis.pubsub('NUMSUB', 'session-auth:messages'))[1]) === (cut ? 4 : 3));
        expect([await trial.status({ at: far.url, token }), await trial.status({ at: near.url, token })]).toEqual([200, 200]);
        if (cut) {
          await store.redis.call('ACL', 'SETUSER', 'default', '-publish');
          await expect(store.redis.publish('session-auth:messages', 'x')).rejects.toThrow('NOPERM');
        }
        await trial.status({ at: near.url, token, method: 'DELETE', path: '/logout' });
        trial.service.on('user_details', reply(401));
        await until('it denies', async () => (await trial.status({ at: far.url, token })) === 401);
        await store.redis.call('ACL', 'SETUSER', 'default', '+publish');
      }
    },
    store.row(TTL_MS),
  );

  row(
    'a dump of all keys and values of Redis holds no token, key, IV, email, username or role in clear [I04]',
    async (trial) => {
      const user = { username: 'canary-username', email: 'canary@example.com', role: 'canary-role' };
      trial.service.on('user_details', (...call) => json({ ...user, auth_token: call[0].headers['x-auth-token'] })(...call));
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
