import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { SessionAuthService } from 'nestjs-session-auth';
import { sessionAuth, trialWithRedis, underTest } from './support.mjs';

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
  process.env.JOB_KEY = randomBytes(32).toString('base64');
  const redis = new Redis(process.env.REDIS_URL);
  const { ClosingQueue } = await import('../dist/queues/src/closing.queue.js');
  const { unseal } = await import('../dist/queues/src/sealed.js');
  const { sessions, moduleRef } = await underTest({
    imports: [sessionAuth({ cache: { ttlMs: 60_000 } })],
    providers: [ClosingQueue],
  });
  const app = await moduleRef.createNestApplication().init();
  app.enableShutdownHooks();
  const queue = app.get(ClosingQueue);
  await queue.worker.waitUntilReady();
  const tokenOf = (role) => sessions.signInAs({ username: 'ann', role })['x-auth-token'];
  try {
    deepEqual(await endOf(queue, redis, tokenOf('hiring_manager')), { event: 'completed', attemptsMade: 1 });
    deepEqual(queue.closed, [1]);

    const failedWith = (failedReason) => ({ event: 'failed', attemptsMade: 1, failedReason });
    const ended = tokenOf('hiring_manager');
    await app.get(SessionAuthService).verify(ended);
    const revoke = () => sessions.revoke({ 'x-auth-token': ended });
    deepEqual(await endOf(queue, redis, ended, revoke), failedWith('The session is not valid'));
    const ofBob = sessions.signInAs({ username: 'bob', role: 'hiring_manager' })['x-auth-token'];
    for (const token of [tokenOf('new_hire'), ofBob])
      deepEqual(await endOf(queue, redis, token), failedWith('Access is denied'));

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
  }
}

await trialWithRedis('queues', check);
