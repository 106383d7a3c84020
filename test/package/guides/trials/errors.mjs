import { deepEqual, equal } from 'node:assert/strict';
import { APP_FILTER } from '@nestjs/core';
import { SessionAuthModule } from 'nestjs-session-auth';
import { ProblemDetailsFilter } from '../dist/errors/src/problem-details.filter.js';
import { SignInController } from '../dist/errors/src/sign-in.controller.js';
import { MeController } from '../dist/openapi/src/documented.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

const session = SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'key' });

await trial('errors', async () => {
  const { sessions, moduleRef } = await underTest({
    module: class {},
    imports: [session],
    controllers: [MeController],
    providers: [{ provide: APP_FILTER, useClass: ProblemDetailsFilter }],
  });
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const denied = await expectStatus(ask('/me'), 401);
  equal(denied.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  equal(denied.headers.get('www-authenticate'), 'X-Auth-Token realm="session"');
  const title = 'Unauthorized';
  deepEqual(await denied.json(), {
    title,
    status: 401,
    detail: 'A session token is required',
    code: 'SESSION_REQUIRED',
  });
  const missing = await expectStatus(ask('/nowhere'), 404);
  deepEqual(await missing.json(), { title: 'Not Found', status: 404, detail: 'Cannot GET /nowhere' });
  sessions.setDown(true);
  const down = await expectStatus(ask('/me', sessions.signInAs()), 503);
  equal(Number.isInteger(Number(down.headers.get('retry-after'))), true);
  equal((await down.json()).code, 'SESSION_SERVICE_UNAVAILABLE');
  await app.close();
  await trySignIn();
});

async function trySignIn() {
  const { sessions, moduleRef } = await underTest({
    module: class {},
    imports: [session],
    controllers: [SignInController],
  });
  sessions.addUser({ username: 'ann', password: 'ann-demo' });
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const signIn = (password) =>
    ask(
      '/sign-in',
      { 'content-type': 'application/json' },
      { method: 'POST', body: JSON.stringify({ username: 'ann', password }) },
    );
  deepEqual(await (await expectStatus(signIn('wrong'), 201)).json(), { kind: 'refused' });
  equal((await (await expectStatus(signIn('ann-demo'), 201)).json()).kind, 'signed-in');
  sessions.setDown(true);
  await expectStatus(signIn('ann-demo'), 503);
  await app.close();
}
