import 'reflect-metadata';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CurrentUser, Roles, SessionAuthGuard, SessionAuthModule, SessionAuthService, UserRecord } from 'nestjs-session-auth';

@UseGuards(SessionAuthGuard)
@Controller()
class MeController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }

  @Get('managers') @Roles('hiring_manager') managers(@CurrentUser('username') name: string | undefined): unknown {
    return { name, checks: typeof this.sessions.verify };
  }
}

const slow = { asked: new Promise<void>(() => undefined), resolve: (): void => undefined };
slow.asked = new Promise((resolve) => (slow.resolve = resolve));
const service = createServer((request, response) => {
  const token = request.headers['x-auth-token'];
  if (token === 'slow') return slow.resolve();
  if (token !== 'good') return response.writeHead(401).end();
  return response.writeHead(200, { 'content-type': 'application/json' }).end('{"username":"ann","role":"new_hire"}');
}).listen(0, '127.0.0.1');
await once(service, 'listening');

@Module({
  imports: [SessionAuthModule.forRoot({ baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}`, apiKey: 'key' })],
  controllers: [MeController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

async function ask(path: string, token?: string): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`${url}${path}`, { headers: token === undefined ? {} : { 'x-auth-token': token } });
  return { status: reply.status, body: await reply.json() };
}

assert.deepEqual(await ask('/me', 'good'), { status: 200, body: { username: 'ann', role: 'new_hire' } });
assert.equal((await ask('/me')).status, 401);
assert.equal((await ask('/me', 'bad')).status, 401);
assert.equal((await ask('/managers', 'good')).status, 403);
const required = createRequire(import.meta.url)('nestjs-session-auth') as { SessionAuthGuard: unknown };
assert.equal(required.SessionAuthGuard, SessionAuthGuard, 'require and import give one class');

// A call in flight at the shutdown is answered, and nothing keeps the process alive afterwards.
const inFlight = ask('/me', 'slow');
await slow.asked;
await Promise.all([app.close(), inFlight.then(({ status }) => assert.equal(status, 503))]);
service.closeAllConnections();
service.close();
console.log('the application answered 200, 401, 401, 403, and 503 at its shutdown');
