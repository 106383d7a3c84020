import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { SessionAuthService } from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { SessionController } from '../dist/quick-start/src/session.controller.js';
import { OpeningsController } from '../dist/quick-start/src/openings.controller.js';
import { expectStatus, listening, trial, trialWithRedis, underTest } from './support.mjs';

/** Each import with a name of its own is an instance of its own, with its own connection. */
async function startInstance(name, sessions) {
  const { redis, sessionAuth, close } = await import(`../dist/fleet/src/session-auth.js?${name}`);
  const root = { imports: [sessionAuth], controllers: [OpeningsController, SessionController] };
  const { moduleRef } = await underTest(root, sessions);
  if (redis && redis.status !== 'ready') await once(redis, 'ready');
  return { redis, close, ...(await listening(moduleRef.createNestApplication())) };
}

/**
 * Returns the headers of a session that the second instance has from the store. A reply does not wait until
 * its session is there, and if Redis answers too late, an instance asks the service.
 */
async function sharedSession(sessions, one, other) {
  const last = performance.now() + 10_000;
  while (true) {
    const headers = sessions.signInAs({ role: 'hiring_manager' });
    await expectStatus(one.ask('/openings', headers), 200);
    await setTimeout(100);
    sessions.revoke(headers);
    // Only the store still has this session.
    const reply = await other.ask('/openings', headers);
    if (reply.status === 200 || performance.now() > last) return expectStatus(reply, 200).then(() => headers);
  }
}

/**
 * Waits for a status: a revocation message takes some time, and a session that it does not revoke stays
 * cached for a minute.
 */
async function until(status, ask) {
  const last = performance.now() + 10_000;
  while ((await ask()).status !== status && performance.now() < last) await setTimeout(20);
  await expectStatus(ask(), status);
}

async function check() {
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
await trialWithRedis('several instances', check);
