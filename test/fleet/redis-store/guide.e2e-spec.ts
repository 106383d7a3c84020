import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { inLongForm } from '../../support/long-form.js';
import { describeWithRedis } from '../../support/redis.js';
import { SESSION_STORE_RULES } from '../../support/session-store-rules.js';
import { until } from '../../support/until.js';
import { RecordedSubscriber } from './recorded-subscriber.js';
import { GuideSection, type GuideModule } from './redis-guide.js';

/** Servers that find each other take their time. */
const SECTIONS = [
  'The rights of the user',
  'TLS',
  ...(inLongForm('the sections Sentinel and Cluster') ? ['Sentinel', 'Cluster'] : []),
];
/** It has no connection of its own: only that of its subscription is tried. */
const WITHOUT_AUTHORITY = { tls: {}, lazyConnect: true };

describeWithRedis('docs/redis.md', () => {
  let section: GuideSection;
  let guide: GuideModule | undefined;

  beforeAll(() => {
    process.env.REDIS_PASSWORD = 'a-long-random-password';
  });
  afterEach(async () => {
    guide?.redis.disconnect();
    await section.close();
  });

  async function open(heading: string): Promise<GuideModule> {
    guide = undefined;
    section = await GuideSection.start(heading);
    process.env.REDIS_CA = join(section.directory, 'redis.crt');
    const opened = (guide = await section.load());
    await until('the client is ready', () => opened.redis.status === 'ready');
    return opened;
  }

  it.each(SECTIONS)(
    '%s: the store keeps its rules with these commands, this code and exactly these rights',
    async (heading) => {
      const { redis } = await open(heading);

      for (const { check } of SESSION_STORE_RULES)
        await check(new RedisSessionStore({ redis }), new RedisSessionStore({ redis }));
    },
  );

  it('TLS: a store without the authority can stop its subscription at any moment of a handshake', async () => {
    const { redis } = await open('TLS');
    const store = new RedisSessionStore({ redis: (redis as Redis).duplicate(WITHOUT_AUTHORITY) });

    for (let turns = 0; turns < 20; turns += 1) {
      const subscriber = new RecordedSubscriber();
      const stop = store.subscribe(subscriber);
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await stop();
      expect(subscriber.isSubscribed).toBe(false);
    }
  });
});
