import 'reflect-metadata';
import { equal } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SessionAuthModule } from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';

Logger.overrideLogger(['error', 'warn']);

/** The session check, as most guides register it. */
export const sessionAuth = (more = {}) =>
  SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'key', ...more });

/**
 * An application as a guide prints it, or of these parts, its session service stood in for as the guide on
 * tests says.
 */
export async function underTest(root, sessions = new TestSessions()) {
  const AppModule = typeof root === 'function' ? root : { module: class {}, ...root };
  const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
  return { sessions, moduleRef };
}

const started = [];

/** Starts it on a free port, until the trial is over, and returns functions that send requests. */
export async function start(root, create = (moduleRef) => moduleRef.createNestApplication()) {
  const tested = await underTest(root);
  const running = await listening(create(tested.moduleRef));
  started.push(running.app);
  return { ...tested, ...running };
}

export async function listening(app) {
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const ask = (path, headers = {}, more = {}) => fetch(`${url}${path}`, { headers, ...more });
  const post = (path, body, headers) =>
    ask(path, { ...JSON_TYPE, ...headers }, { method: 'POST', body: JSON.stringify(body) });
  return { app, url, ask, post };
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** A port that no program uses. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Sends a request, and compares the status with the guide. */
export async function expectStatus(asked, status) {
  const reply = await asked;
  equal(reply.status, status, `${new URL(reply.url).pathname} answers ${reply.status}, and not ${status}`);
  return reply;
}

export const bodyOf = async (asked, status) => (await expectStatus(asked, status)).json();

/** Runs a trial. A program that ends before its checks do has not succeeded. */
export async function trial(name, check) {
  process.exitCode = 1;
  await check();
  for (const app of started.splice(0)) await app.close();
  process.exitCode = 0;
  console.log(`${name}: as the guide says`);
}

/**
 * Runs a trial with a Redis of its own, on a socket of the file system, in REDIS_URL. A machine that promises
 * every service has it.
 */
export async function trialWithRedis(name, check) {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    if (process.env.REQUIRE_SERVICES === '1') throw new Error('redis-server is not installed');
    console.log(`${name}: skipped, because redis-server is not installed`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-redis-'));
  const socket = (process.env.REDIS_URL = join(folder, 'redis.sock'));
  const flags = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder];
  const server = spawn('redis-server', flags);
  for await (const line of server.stdout) if (/ready to accept connections/i.test(String(line))) break;
  try {
    await trial(name, () => check(server));
  } finally {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}
