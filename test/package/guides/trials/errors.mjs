import { deepEqual, equal } from 'node:assert/strict';
import { AppModule } from '../dist/errors/src/app.module.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('errors', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
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
});
