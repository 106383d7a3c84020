// One instance of an application: signs out when it is told to, and tells when it heard that a session ended.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionAuthEvents, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { RedisSessionStore } from 'nestjs-session-auth/redis';

const [baseUrl, port] = process.argv.slice(2);
class Instance {}
const store = new RedisSessionStore({ redis: new Redis(Number(port), '127.0.0.1') });
Module({ imports: [SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', cache: { ttlMs: 300_000, store } })] })(Instance);

const app = await NestFactory.createApplicationContext(Instance, { logger: false });
const [sessions, events] = [app.get(SessionAuthService), app.get(SessionAuthEvents)];
const tokens = new Map();
events.ended$.subscribe((fingerprint) => process.send({ ended: tokens.get(fingerprint), at: now() }));

/** Milliseconds of the machine's monotonic clock, which all processes share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

process.on('message', async ({ verify, signOut }) => {
  if (verify !== undefined) {
    await sessions.verify(verify);
    tokens.set(events.fingerprintOf(verify), verify);
    process.send({ verified: verify });
  }
  if (signOut !== undefined) {
    const started = now();
    await sessions.signOut(signOut);
    process.send({ signedOut: signOut, started, settled: now() });
  }
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
