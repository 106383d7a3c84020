import 'reflect-metadata';
import { equal } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TestSessions } from 'nestjs-session-auth/testing';

Logger.overrideLogger(['error', 'warn']);

/** An application as a guide prints it, its session service stood in for as the guide on tests says. */
export async function underTest(AppModule) {
  const sessions = new TestSessions();
  const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
  return { sessions, moduleRef };
}

/** Starts it on a free port, and returns a function that sends requests. */
export async function listening(app) {
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return { app, url, ask: (path, headers = {}, more = {}) => fetch(`${url}${path}`, { headers, ...more }) };
}

/** Sends a request, and compares the status with the guide. */
export async function expectStatus(asked, status) {
  const reply = await asked;
  equal(reply.status, status, `${new URL(reply.url).pathname} answers ${reply.status}, and not ${status}`);
  return reply;
}

/** Runs a trial. A program that ends before its checks do has not succeeded. */
export async function trial(name, check) {
  process.exitCode = 1;
  await check();
  process.exitCode = 0;
  console.log(`${name}: as the guide says`);
}

/** Whether Redis is installed. A machine that promises every service has it. */
export function hasRedis() {
  const isInstalled = spawnSync('redis-server', ['--version']).status === 0;
  if (!isInstalled && process.env.REQUIRE_SERVICES === '1') throw new Error('redis-server is not installed');
  return isInstalled;
}

/** Starts Redis on a socket of the file system; resolves when it takes connections. */
export async function startRedis(folder) {
  const socket = join(folder, 'redis.sock');
  const flags = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder];
  const server = spawn('redis-server', flags);
  for await (const line of server.stdout) if (/ready to accept connections/i.test(String(line))) break;
  return { server, socket };
}
