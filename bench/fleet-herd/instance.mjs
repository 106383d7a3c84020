// One instance of an application: checks many sessions at once on request, and reports the outcome of each.
import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';

const [baseUrl, port, timeoutMs, before] = process.argv.slice(2);
class Instance {}
const redis = timeoutMs === 'none' ? undefined : new Redis(Number(port), '127.0.0.1');
const store = redis && { store: new RedisSessionStore({ redis, timeoutMs: Number(timeoutMs) }) };
Module({
  imports: [
    SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', cache: { ttlMs: 300_000, ...store } }),
  ],
})(Instance);

const app = await NestFactory.createApplicationContext(Instance, { logger: false });
const sessions = app.get(SessionAuthService);

async function check(token) {
  const startMs = performance.now();
  const outcome = await sessions.verify(token).then(
    () => 'accepted',
    ({ reason, code }) => reason ?? code,
  );
  return { outcome, tookMs: performance.now() - startMs };
}

process.on('message', async (tokens) => process.send({ checks: await Promise.all(tokens.map(check)) }));
process.on('disconnect', () => process.exit());
if (redis && redis.status !== 'ready') await once(redis, 'ready');
const BATCH = 50;
for (let first = 0; first < Number(before); first += BATCH)
  await Promise.all(
    Array.from({ length: BATCH }, (_, index) => check(`before-${process.pid}-${first + index}`)),
  );
// The first check of a process loads code.
await check('first');
process.send({ ready: true });
