import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionAuthEvents, SessionAuthModule, type SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { CapturedLog } from '../support/captured-log.js';
import { describeWithRedis, RedisServer } from '../support/redis.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { PATIENCE_MS } from './fleet.js';

@Module({})
class Root {}

const EVENTS = ['default', 'partners'].map((name) => SessionAuthModule.getToken(name, SessionAuthEvents));
const isConnected = ({ serviceStatus }: SessionAuthEvents): boolean =>
  serviceStatus.revocationBus.state === 'connected';

const SECRET = 'one-secret-of-both-registrations';

describeWithRedis('two authorities with one Redis, one secret and one baseUrl', () => {
  let server: RedisServer;
  let redis: Redis;
  let service: ScriptedService;
  const contexts: INestApplicationContext[] = [];
  const log = new CapturedLog();

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port, '127.0.0.1');
    await redis.ping();
    service = await startScriptedService();
    for (let instance = 0; instance < 2; instance += 1) contexts.push(await started());
    await until('the revocation bus', () =>
      contexts.every((context) => EVENTS.every((token) => isConnected(context.get(token)))),
    );
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    redis.disconnect();
    await service.close();
    await server.close();
  });

  function started(): Promise<INestApplicationContext> {
    const options = (apiKey: string) => ({
      baseUrl: service.url,
      apiKey,
      cache: {
        ttlMs: 60_000,
        store: new RedisSessionStore({ redis, secret: SECRET, timeoutMs: PATIENCE_MS }),
      },
    });
    const imports = [
      SessionAuthModule.forRoot(options('own-key')),
      SessionAuthModule.forRoot({ name: 'partners', ...options('partner-key') }),
    ];
    return NestFactory.createApplicationContext({ module: Root, imports }, { logger: log });
  }

  function inject(instance: number, name: string): SessionAuthService {
    const context = contexts[instance];
    if (!context) throw new Error(`There is no instance ${instance}`);
    return context.get(SessionAuthModule.getToken(name));
  }
  const own = (instance: number): SessionAuthService => inject(instance, 'default');
  const partners = (instance: number): SessionAuthService => inject(instance, 'partners');
  const keysFor = (token: string): unknown[] =>
    service.requests
      .filter(({ headers }) => headers['x-auth-token'] === token)
      .map(({ headers }) => headers['x-api-key']);

  it('do not read the entries of each other, and share their own with other instances', async () => {
    const token = service.signInAs({ username: 'ann' });
    await own(0).verify(token);
    await until('the entry in the store', async () => (await redis.keys('*')).length > 0);
    await own(1).verify(token);
    expect(keysFor(token)).toEqual(['own-key']);

    await partners(1).verify(token);
    await until('the second entry', async () => (await redis.keys('*')).length > 1);
    await partners(0).verify(token);
    expect(keysFor(token)).toEqual(['own-key', 'partner-key']);
  });

  it('do not evict the sessions of each other, nor report messages that they cannot read', async () => {
    const token = service.signInAs({ username: 'bob' });
    for (const instance of [0, 1])
      for (const sessions of [own(instance), partners(instance)]) await sessions.verify(token);
    const before = [own(1).countCached(), partners(1).countCached()];
    await own(0).forgetUser('bob');
    await until('the revocation', () => own(1).countCached() < (before[0] ?? 0));

    expect(partners(1).countCached()).toBe(before[1]);
    const seen = keysFor(token).length;
    await partners(1).verify(token);
    expect(keysFor(token)).toHaveLength(seen);
    // On a busy machine, Redis may not answer in time; that says nothing about its messages.
    expect(
      log.lines.filter((line) => line.startsWith('warn') && !line.includes('revocation bus interrupted')),
    ).toEqual([]);
  });
});
