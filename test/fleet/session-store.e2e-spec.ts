import { afterAll, beforeAll, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { SESSION_STORE_RULES } from 'nestjs-session-auth/testing';
import { describeWithRedis, RedisServer } from '../support/redis.js';

describeWithRedis('a session store in Redis', () => {
  let server: RedisServer;
  let clients: Redis[];

  beforeAll(async () => {
    server = await RedisServer.start();
    clients = [new Redis(server.port, '127.0.0.1'), new Redis(server.port, '127.0.0.1')];
    await Promise.all(clients.map((client) => client.ping()));
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.close();
  });

  it.each(SESSION_STORE_RULES)('$name', async ({ check }) => {
    const [one, other] = clients.map((redis) => new RedisSessionStore({ redis }));
    if (one && other) await check(one, other);
  });
});
