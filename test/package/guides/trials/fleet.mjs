import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { SessionAuthService } from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { SessionController } from '../dist/quick-start/src/session.controller.js';
import { OpeningsController } from '../dist/quick-start/src/openings.controller.js';
import { expectStatus, hasRedis, listening, startRedis, trial } from './support.mjs';

/** Each import with a name of its own is an instance of its own, with its own connection. */
async function startInstance(name, sessions) {
  const { redis, sessionAuth, close } = await import(`../dist/fleet/src/session-auth.js?${name}`);
  const root = {
    module: class {},
    imports: [sessionAuth],
    controllers: [OpeningsController, SessionController],
  };
  const moduleRef = await sessions.install(Test.createTestingModule({ imports: [root] })).compile();
  if (redis && redis.status !== 'ready') await once(redis, 'ready');
  return { redis, close, ...(await listening(moduleRef.createNestApplication())) };
}

const storedSessions = (redis) => redis.keys('session-auth:*');

/** A reply does not wait until its session is in the store. Waits for one that was not there `before`. */
async function stored({ redis }, before) {
  const last = performance.now() + 10_000;
  const isThere = async () => (await storedSessions(redis)).some((key) => !before.includes(key));
  while (!(await isThere()) && performance.now() < last)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Returns the headers of a session that the second instance has from the store. If Redis answers too late, an
 * instance asks the service.
 */
async function sharedSession(sessions, one, other) {
  const last = performance.now() + 10_000;
  while (true) {
    const headers = sessions.signInAs({ role: 'hiring_manager' });
    const before = await storedSessions(one.redis);
    await expectStatus(one.ask('/openings', headers), 200);
    await stored(one, before);
    sessions.revoke(headers);
    // Only the store still has this session.
    const reply = await other.ask('/openings', headers);
    if (reply.status === 200 || performance.now() > last) return expectStatus(reply, 200).then(() => headers);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Waits for a status: a revocation message takes some time, and a session that it does not revoke stays
 * cached for a minute.
 */
async function until(status, ask) {
  const last = performance.now() + 10_000;
  while ((await ask()).status !== status && performance.now() < last)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await expectStatus(ask(), status);
}

async function check() {
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-redis-'));
  const { server, socket } = await startRedis(folder);
  process.env.REDIS_URL = socket;
  const sessions = new TestSessions();
  const instances = [];
  try {
    for (const name of ['one', 'other']) instances.push(await startInstance(name, sessions));
    const [one, other] = instances;
    const headers = await sharedSession(sessions, one, other);
    await one.app.get(SessionAuthService).signOut(headers['x-auth-token']);
    await expectStatus(one.ask('/openings', headers), 401);
    await until(401, () => other.ask('/openings', headers));
  } finally {
    for (const { app, close } of instances) await close(app);
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As in a test of Jest or Vitest. */
async function checkWithoutRedis() {
  process.env.NODE_ENV = 'test';
  const sessions = new TestSessions();
  const { app, ask, close, redis } = await startInstance('tested', sessions);
  delete process.env.NODE_ENV;
  equal(redis, undefined);
  const headers = sessions.signInAs({ role: 'hiring_manager' });
  await expectStatus(ask('/openings', headers), 200);
  sessions.revoke(headers);
  await expectStatus(ask('/openings', headers), 200);
  await app.get(SessionAuthService).signOut(headers['x-auth-token']);
  await expectStatus(ask('/openings', headers), 401);
  await close(app);
}

await trial('several instances, tested without Redis', checkWithoutRedis);
if (hasRedis()) await trial('several instances', check);
else console.log('several instances: skipped, because redis-server is not installed');
