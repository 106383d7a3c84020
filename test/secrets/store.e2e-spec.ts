import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { SessionAuthOptions } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { describeWithRedis } from '../support/redis.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { until } from '../support/until.js';
import type { Fleet } from '../fleet/fleet.js';
import type { Instance } from '../fleet/instance.js';
import { fleets, TIMEOUT_MS } from '../fleet/suites.js';

const [OLD, NEW] = ['the old secret of the store', 'the new secret of the store'];

describeWithRedis('the secret of a store', () => {
  const start = fleets();

  async function withSecrets(
    fleet: Fleet,
    ...secrets: (string | string[] | undefined)[]
  ): Promise<Instance[]> {
    const started = secrets.map((secret, index) =>
      fleet.instance({
        platform: index % 2 ? 'Fastify' : 'Express',
        store: secret === undefined ? {} : { secret },
      }),
    );
    const instances = await Promise.all(started);
    await fleet.receiving(...instances);
    return instances;
  }

  async function rotate(fleet: Fleet, instances: Instance[], calls: number): Promise<void> {
    for (const order of [instances, [...instances].reverse()]) {
      const before = fleet.asked;
      const token = fleet.signIn();
      for (const instance of order) {
        expect(await instance.status(token)).toBe(200);
        await until('the answer is kept', async () => (await valuesIn(fleet)) > 0);
      }
      expect(fleet.asked - before).toBeLessThanOrEqual(calls);
      fleet.revoke(token);
      expect(await order[0]?.do('signOut', token)).toBe('done');
      for (const instance of instances) {
        await until('it denies', async () => (await instance.status(token)) === 401);
        expect(await instance.do('revocationsOf', token)).toBe(1);
      }
      await fleet.redis.flushall();
    }
  }

  async function valuesIn({ redis }: Fleet): Promise<number> {
    const values = await Promise.all((await redis.keys('*')).map((key) => redis.getrange(key, 0, 0)));
    return values.filter((value) => value === 'V').length;
  }

  it(
    'is rotated without a second call, while one instance after the other takes each step, and a sign-out reaches all',
    async () => {
      const fleet = await start();
      const steps = await withSecrets(fleet, OLD, [OLD, NEW], [NEW, OLD], NEW);
      for (let step = 1; step < steps.length; step += 1)
        await rotate(fleet, steps.slice(step - 1, step + 1), 1);
      // Where steps were left out, each of the two secrets costs one question.
      await rotate(fleet, steps.slice(1), 2);
    },
    TIMEOUT_MS,
  );

  it(
    'is derived from the application key where none is given, so that other keys share nothing',
    async () => {
      const fleet = await start();
      const [one, other] = await withSecrets(fleet, undefined, undefined);
      const stranger = await fleet.instance({ options: { apiKey: 'another-key' } });
      const token = fleet.signIn();
      expect([
        await one?.status(token),
        await fleet.key('V'),
        await other?.status(token),
        fleet.asked,
      ]).toEqual([200, expect.any(String), 200, 1]);
      expect([await stranger.status(token), fleet.asked]).toEqual([200, 2]);
    },
    TIMEOUT_MS,
  );
});

describe('a store that cannot be right', () => {
  const redis = new Redis({ lazyConnect: true });
  const storeWith = (options: object) => () => new RedisSessionStore({ redis, ...options });
  const short = 'hunter2-secret';

  const WRONG: [option: string, store: () => unknown, apiKey?: SessionAuthOptions['apiKey']][] = [
    ['cache.store.secret', storeWith({}), () => 'key'],
    ['cache.store.secret', storeWith({ secret: '' })],
    ['cache.store.secret', storeWith({ secret: short })],
    ['cache.store.secret', storeWith({ secret: [OLD, short] })],
    ['cache.store.secret', storeWith({ secret: [] })],
    ['cache.store.secret', storeWith({ secret: 's'.repeat(1_025) })],
    ['cache.store.secret', storeWith({ secret: 5 })],
    ['cache.store.timeoutMs', storeWith({ timeoutMs: 0 })],
    ['cache.store.timeoutMs', storeWith({ timeoutMs: 1_001 })],
    ['cache.store.timeoutMs', storeWith({ timeoutMs: 1.5 })],
    ['cache.store.timeoutMs', storeWith({ timeoutMs: '50' })],
    ['cache.store', () => redis],
    ['cache.store', () => ({})],
    ['cache.store', () => null],
    ['prefix', storeWith({ prefix: '' })],
    ['prefix', storeWith({ prefix: 5 })],
    ['redis', storeWith({ redis: undefined })],
    ['redis', storeWith({ redis: 'redis://localhost' })],
    ['ttl', storeWith({ ttl: 5 })],
  ];

  it.each(WRONG.map(([option, store, apiKey = 'key']) => [option, { store, apiKey }] as const))(
    'stops the bootstrap with an error that names %s, and none of its values',
    async (option, { store, apiKey }) => {
      const start = async () => {
        const cache = { ttlMs: 1_000, store: store() as RedisSessionStore };
        throw await bootstrapError(sampleApp({ baseUrl: 'http://localhost', options: { apiKey, cache } }));
      };
      const error = await start().catch((reason: unknown) => reason as Error);
      expect(error).toBeInstanceOf(InvalidConfigurationError);
      expect(error.message).toContain(option);
      expect(error.message).not.toMatch(/hunter2|old secret|redis:\/\/|sss/);
    },
  );
});
