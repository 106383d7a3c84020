// The cost of a check: from the cache, with and without revocations; the heap of a cached session; round
// trips of a check from the store.
import 'reflect-metadata';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionAuthGuard, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { startSessionService } from 'nestjs-session-auth/testing';
import { contextOf, Things } from '../guarded-things.mjs';

const SESSIONS = 500;
const ROUNDS = 60;
const BATCHES = 20;
const HEAP_SESSIONS = 20_000;
const CONCURRENT = 50;
const STORE_HITS = 50;

const [redisPort] = process.argv.slice(2);
const service = await startSessionService();
const tokenOf = (index) => `session-${index}`;

async function start(cache) {
  class Application {}
  const session = SessionAuthModule.forRoot({
    baseUrl: service.url,
    apiKey: 'application-key',
    cache: { ttlMs: 300_000, ...cache },
  });
  Module({ imports: [session], controllers: [Things] })(Application);
  const app = await NestFactory.create(Application, { logger: false });
  await app.init();
  return app;
}

async function verifyAll(sessions, count) {
  let next = 0;
  const work = async () => {
    while (next < count) await sessions.verify(tokenOf((next += 1) - 1));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
}

function signInAll(count) {
  for (let index = 0; index < count; index += 1)
    service.signInAs({ username: `user-${index}` }, tokenOf(index));
}

/** Nanoseconds of a check of a cached session. Creating the requests is not timed. */
function nsPerCheck(guard) {
  let elapsed = 0n;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const contexts = Array.from({ length: SESSIONS }, (_, index) => contextOf(tokenOf(index)));
    const started = process.hrtime.bigint();
    for (const context of contexts)
      if (guard.canActivate(context) !== true) throw new Error('A session was not answered from memory');
    elapsed += process.hrtime.bigint() - started;
  }
  return Number(elapsed) / (BATCHES * SESSIONS);
}

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

/** The same check on two applications in turn: on one, sessions of another user were revoked. */
async function checks() {
  signInAll(SESSIONS);
  const apps = [await start(), await start()];
  await apps[1].get(SessionAuthService).forgetUser('another user');
  for (const app of apps) await verifyAll(app.get(SessionAuthService), SESSIONS);
  const guards = apps.map((app) => app.get(SessionAuthGuard));
  const times = [[], []];
  for (let round = 0; round < ROUNDS; round += 1)
    guards.forEach((guard, index) => times[index].push(nsPerCheck(guard)));
  const [without, after] = times.map((values) => median(values.slice(ROUNDS / 3)));
  const differences = times[0].map((value, round) => times[1][round] - value).slice(ROUNDS / 3);
  for (const app of apps) await app.close();
  return [
    ['guard, session in memory', 'no revocation lately', `${without.toFixed(0)} ns`],
    ['guard, session in memory', 'one `forgetUser` of another user before', `${after.toFixed(0)} ns`],
    ['difference', `median of ${differences.length} pairs of rounds`, `${median(differences).toFixed(0)} ns`],
  ];
}

function bytesInUse() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function heap() {
  const small = await start({ maxEntries: 10 });
  signInAll(HEAP_SESSIONS);
  await verifyAll(small.get(SessionAuthService), 200);
  service.requests.length = 0;
  const app = await start({ maxEntries: HEAP_SESSIONS });
  const before = bytesInUse();
  await verifyAll(app.get(SessionAuthService), HEAP_SESSIONS);
  service.requests.length = 0;
  const bytes = (bytesInUse() - before) / HEAP_SESSIONS;
  if (app.get(SessionAuthService).countCached() !== HEAP_SESSIONS) throw new Error('A session is not cached');
  await Promise.all([small.close(), app.close()]);
  return [
    [
      'heap of a cached session',
      `${HEAP_SESSIONS.toLocaleString('en')} sessions of users of their own`,
      `${bytes.toFixed(0)} bytes`,
    ],
  ];
}

/** A way to Redis that counts how often the answers of Redis are followed by another request. */
async function countingProxy() {
  const counts = { trips: 0, commands: 0 };
  const server = createServer((near) => {
    const far = connect(Number(redisPort), '127.0.0.1');
    let isAnswered = true;
    near.on('data', (bytes) => {
      if (isAnswered) counts.trips += 1;
      isAnswered = false;
      counts.commands += String(bytes).match(/\*\d+\r\n\$\d+\r\n[a-z]/gi)?.length ?? 0;
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      isAnswered = true;
      near.write(bytes);
    });
    near.on('close', () => far.destroy()).on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { counts, server, port: server.address().port };
}

async function trips() {
  const proxy = await countingProxy();
  const direct = new Redis(Number(redisPort), '127.0.0.1');
  const counted = new Redis(proxy.port, '127.0.0.1');
  const apps = [direct, counted].map((redis) =>
    start({ store: new RedisSessionStore({ redis, timeoutMs: 1_000 }) }),
  );
  const [filling, reading] = await Promise.all(apps);
  const subscribers = async () => (await direct.pubsub('NUMSUB', 'session-auth:messages'))[1];
  while ((await subscribers()) < 2) await setTimeout(50);
  // A first connection takes its time, and the store is then left alone for a while.
  await setTimeout(2_000);
  await verifyAll(filling.get(SessionAuthService), STORE_HITS + 1);
  await reading.get(SessionAuthService).verify(tokenOf(STORE_HITS));
  const calls = service.callsTo('user_details');
  const before = { ...proxy.counts };
  // The subscription's own connection is nearly idle: its heartbeat, once a second, is counted too.
  for (let index = 0; index < STORE_HITS; index += 1)
    await reading.get(SessionAuthService).verify(tokenOf(index));
  const [made, commands] = [proxy.counts.trips - before.trips, proxy.counts.commands - before.commands];
  if (service.callsTo('user_details') !== calls) throw new Error('A session was not found in the store');
  await Promise.all([filling.close(), reading.close()]);
  for (const redis of [direct, counted]) redis.disconnect();
  proxy.server.close();
  return [
    [
      'check from the store',
      'round trips, commands',
      `${(made / STORE_HITS).toFixed(2)}, ${(commands / STORE_HITS).toFixed(2)}`,
    ],
  ];
}

const rows = [...(await checks()), ...(await heap()), ...(await trips())];
await service.close();
process.send(rows, () => process.disconnect());
