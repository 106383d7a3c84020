// One instance of an application: ends sessions on request, and reports when it learned of the end of other
// sessions.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionAuthEvents, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';

const [baseUrl, port] = process.argv.slice(2);
class Instance {}
const store = new RedisSessionStore({ redis: new Redis(Number(port), '127.0.0.1') });
Module({
  imports: [
    SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', cache: { ttlMs: 300_000, store } }),
  ],
})(Instance);

const app = await NestFactory.createApplicationContext(Instance, { logger: false });
const [sessions, events] = [app.get(SessionAuthService), app.get(SessionAuthEvents)];
const tokens = new Map();
events.ended$.subscribe((fingerprint) => learned(tokens.get(fingerprint)));
events.forgottenUsers$.subscribe((username) => learned(username));

/** Milliseconds of the machine's monotonic clock, which all processes share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The session is evicted before the event, so that a check from now on asks the service. */
function learned(ended) {
  process.send({ ended, at: now() });
}

/** How a check of a session ends: `accepted`, or the code of its error. */
function check(token) {
  return sessions.verify(token).then(
    () => 'accepted',
    (error) => error.code,
  );
}

process.on('message', async ({ verify, kind, subject }) => {
  if (verify !== undefined) {
    tokens.set(events.fingerprintOf(verify), verify);
    process.send({ verified: verify, outcome: await check(verify) });
  }
  if (kind !== undefined) {
    const called = now();
    await sessions[kind](subject);
    process.send({ settled: subject, called, at: now() });
  }
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
