import 'reflect-metadata';
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CurrentUser,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
} from 'nestjs-session-auth';
import { SessionRejectedError } from 'nestjs-session-auth/errors';
import { hold, reply, startSessionService } from 'nestjs-session-auth/testing';

/** A decorator of the application, whose type is in its declaration file. */
export const Username = () => CurrentUser('username');

@UseGuards(SessionAuthGuard)
@Controller()
class MeController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') me(@CurrentUser() user: UserRecord): unknown {
    return { user, isUserRecord: user instanceof UserRecord };
  }

  @Get('managers') @Roles('hiring_manager') managers(@Username() name: string | undefined): unknown {
    return { name, checks: typeof this.sessions.verify };
  }
}

async function check(): Promise<void> {
  const service = await startSessionService();
  const token = service.signInAs({ username: 'ann', role: 'new_hire' });

  @Module({
    imports: [SessionAuthModule.forRoot({ baseUrl: service.url, apiKey: 'key' })],
    controllers: [MeController],
  })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();

  async function ask(path: string, token?: string): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(`${url}${path}`, {
      headers: token === undefined ? {} : { 'x-auth-token': token },
    });
    return { status: answer.status, body: await answer.json() };
  }

  const ann = { username: 'ann', role: 'new_hire' };
  deepEqual(await ask('/me', token), { status: 200, body: { user: ann, isUserRecord: true } });
  equal((await ask('/me')).status, 401);
  equal((await ask('/me', 'unknown')).status, 401);
  equal((await ask('/managers', token)).status, 403);
  await rejects(app.get(SessionAuthService).verify('unknown'), SessionRejectedError);

  // A call in flight at the shutdown is answered, and nothing keeps the process alive afterwards.
  const held = hold(reply(401));
  service.on('user_details', held.script);
  const inFlight = ask('/me', 'slow');
  await held.arrived;
  await Promise.all([app.close(), inFlight.then(({ status }) => equal(status, 503))]);
  await service.close();
  console.log('the application answered 200, 401, 401, 403, and 503 at its shutdown');
}

// A program that ends before its checks do has not succeeded.
process.exitCode = 1;
void check().then(() => {
  process.exitCode = 0;
});
