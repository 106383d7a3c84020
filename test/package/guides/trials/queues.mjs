import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { hasRedis, startRedis, trial, underTest } from './support.mjs';

const READERS = {
  hash: (redis, key) => redis.hgetall(key),
  none: () => undefined,
  set: (redis, key) => redis.smembers(key),
  list: (redis, key) => redis.lrange(key, 0, -1),
  stream: (redis, key) => redis.xrange(key, '-', '+'),
  string: (redis, key) => redis.get(key),
  zset: (redis, key) => redis.zrange(key, 0, -1),
};

const ANN = { username: 'ann' };

async function holds(redis, text) {
  const keys = await redis.keys('*');
  const values = keys.map(async (key) => READERS[await redis.type(key)](redis, key));
  return JSON.stringify(await Promise.all(values)).includes(text);
}

/** Adds a job that waits while `meanwhile` runs; resolves with its end, and checks that it is gone. */
async function endOf(queue, redis, token, meanwhile = () => undefined) {
  await queue.worker.pause();
  const job = await queue.add(1, ANN, { token });
  equal(await holds(redis, job.data), true);
  equal(await holds(redis, token), false);
  await meanwhile();
  const ended = Promise.race(
    ['completed', 'failed'].map(async (event) => [event, (await once(queue.worker, event))[0]]),
  );
  queue.worker.resume();
  const [event, { id, attemptsMade, failedReason }] = await ended;
  equal(id, job.id);
  equal(await holds(redis, job.data), false);
  return { event, attemptsMade, ...(failedReason && { failedReason }) };
}

async function check() {
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-queues-'));
  const { server, socket } = await startRedis(folder);
  process.env.REDIS_URL = socket;
  process.env.JOB_KEY = randomBytes(32).toString('base64');
  const redis = new Redis(socket);
  const { ClosingQueue } = await import('../dist/queues/src/closing.queue.js');
  const { unseal } = await import('../dist/queues/src/sealed.js');
  const auth = SessionAuthModule.forRoot({
    baseUrl: 'https://sessions.example.com/api',
    apiKey: 'key',
    cache: { ttlMs: 60_000 },
  });
  const root = { module: class {}, imports: [auth], providers: [ClosingQueue] };
  const { sessions, moduleRef } = await underTest(root);
  const app = await moduleRef.createNestApplication().init();
  app.enableShutdownHooks();
  const queue = app.get(ClosingQueue);
  await queue.worker.waitUntilReady();
  const tokenOf = (role) => sessions.signInAs({ username: 'ann', role })['x-auth-token'];
  try {
    deepEqual(await endOf(queue, redis, tokenOf('hiring_manager')), { event: 'completed', attemptsMade: 1 });
    deepEqual(queue.closed, [1]);

    const ended = tokenOf('hiring_manager');
    await app.get(SessionAuthService).verify(ended);
    deepEqual(await endOf(queue, redis, ended, () => sessions.revoke({ 'x-auth-token': ended })), {
      event: 'failed',
      attemptsMade: 1,
      failedReason: 'The session is not valid',
    });
    deepEqual(await endOf(queue, redis, tokenOf('new_hire')), {
      event: 'failed',
      attemptsMade: 1,
      failedReason: 'Access is denied',
    });

    const ofBob = sessions.signInAs({ username: 'bob', role: 'hiring_manager' })['x-auth-token'];
    deepEqual(await endOf(queue, redis, ofBob), {
      event: 'failed',
      attemptsMade: 1,
      failedReason: 'Access is denied',
    });

    const tried = tokenOf('hiring_manager');
    sessions.setDown(true);
    const failed = once(queue.worker, 'failed');
    await queue.add(1, ANN, { token: tried });
    await failed;
    sessions.setDown(false);
    await once(queue.worker, 'completed');
    deepEqual(queue.closed, [1, 1]);

    const refused = once(queue.worker, 'failed');
    const { data } = await queue.add(2, ANN, { token: tried, authIv: 'iv' });
    await once(queue.worker, 'completed');
    const { openingId, authIv } = unseal(data);
    deepEqual([openingId, authIv, queue.closed], [2, 'iv', [1, 1, 2]]);
    await queue.queue.add('close', `${data.slice(0, -8)}AAAAAAA=`);
    await refused;
    deepEqual(queue.closed, [1, 1, 2]);
  } finally {
    await app.close();
    redis.disconnect();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (hasRedis()) await trial('queues', check);
else console.log('queues: skipped, because redis-server is not installed');
