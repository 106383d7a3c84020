import { deepEqual, equal } from 'node:assert/strict';
import { APP_FILTER } from '@nestjs/core';
import { ProblemDetailsFilter } from '../dist/errors/src/problem-details.filter.js';
import { MeController } from '../dist/openapi/src/documented.js';
import { bodyOf, expectStatus, sessionAuth, start, trial } from './support.mjs';

const imports = [sessionAuth()];

await trial('errors', async () => {
  const { sessions, ask } = await start({
    imports,
    controllers: [MeController],
    providers: [{ provide: APP_FILTER, useClass: ProblemDetailsFilter }],
  });
  const denied = await expectStatus(ask('/me'), 401);
  equal(denied.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  equal(denied.headers.get('www-authenticate'), 'X-Auth-Token realm="session"');
  deepEqual(await denied.json(), {
    title: 'Unauthorized',
    status: 401,
    detail: 'A session token is required',
    code: 'SESSION_REQUIRED',
  });
  deepEqual(await bodyOf(ask('/nowhere'), 404), {
    title: 'Not Found',
    status: 404,
    detail: 'Cannot GET /nowhere',
  });
  sessions.setDown(true);
  const down = await expectStatus(ask('/me', sessions.signInAs()), 503);
  equal(Number.isInteger(Number(down.headers.get('retry-after'))), true);
  equal((await down.json()).code, 'SESSION_SERVICE_UNAVAILABLE');
});
