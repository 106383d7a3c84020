import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { PATIENCE_MS } from '../fleet/fleet.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { describeWithRedis, RedisServer } from '../support/redis.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { openReply, type OpenReply } from './open-reply.js';
import { Sources, StreamsController } from './streams.controller.js';

describeWithRedis.each(PLATFORMS)('what a session has open, on %s', (_name, platform) => {
  let server: RedisServer;
  const open: OpenReply[] = [];
  const clients: Redis[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.close());
  afterEach(() => {
    for (const each of open.splice(0)) each.leave();
  });
  const bed = testbed(platform);
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect();
  });

  async function instance(service: ScriptedService): Promise<RunningApp> {
    const redis = new Redis(server.port, '127.0.0.1');
    clients.push(redis);
    const store = new RedisSessionStore({ redis, timeoutMs: PATIENCE_MS });
    const app = await bed.sample({
      baseUrl: service.url,
      options: { retry: false, breaker: false, cache: { ttlMs: 300_000, store } },
      controllers: [StreamsController],
      providers: [Sources],
    });
    const events = app.app.get(SessionAuthEvents);
    await until('it listens', () => events.serviceStatus.revocationBus.state === 'connected');
    return app;
  }

  async function read(app: RunningApp, path: string, token: string): Promise<OpenReply> {
    const stream = await openReply(`${app.url}/${path}`, token);
    open.push(stream);
    await until('two parts have arrived', () => stream.text().split('part').length > 2);
    return stream;
  }

  it.each([
    ['signOut', (sessions: SessionAuthService, token: string) => sessions.signOut(token)],
    ['forgetUser', (sessions: SessionAuthService) => sessions.forgetUser('ann')],
    ['forgetAll', (sessions: SessionAuthService) => sessions.forgetAll()],
  ])('ends with its session, and no other, at %s on another instance [P39]', async (name, end) => {
    const service = await bed.service();
    const [near, far] = [await instance(service), await instance(service)];
    const [mine, other] = [service.signInAs({ username: 'ann' }), service.signInAs({ username: 'bob' })];
    const [events, file] = [await read(far, 'sse', mine), await read(far, 'file', mine)];
    const others = await read(far, 'sse', other);
    await end(near.app.get(SessionAuthService), mine);

    expect([await events.over(), await file.over()]).toEqual(['complete', 'cut']);
    expect(events.text()).toContain('event: session-ended');
    const soFar = others.text().length;
    if (name === 'forgetAll') expect(await others.over()).toBe('complete');
    else await until('more of the other arrives', () => others.text().length > soFar);
  });
});
