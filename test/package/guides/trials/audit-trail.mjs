import { deepEqual, equal } from 'node:assert/strict';
import { AppModule } from '../dist/audit-trail/src/app.module.js';
import { AuditTrail } from '../dist/audit-trail/src/audit-trail.js';
import { Database } from '../dist/audit-trail/src/database.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('audit trail', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const written = [];
  let isDown = true;
  app.get(Database).query = async (_text, [, ...columns]) => {
    if (isDown) throw new Error('down');
    written.push(...columns[0].map((_, row) => columns.map((column) => column[row])));
  };

  await expectStatus(
    ask('/openings', sessions.signInAs({ username: 'ann', role: 'hiring_manager', acting_as: 'support-7' })),
    200,
  );
  await expectStatus(ask('/openings', sessions.signInAs({ username: 'bob', role: 'new_hire' })), 403);
  await expectStatus(ask('/openings'), 401);
  isDown = false;
  await app.close();

  equal(app.get(AuditTrail).lost, 0);
  const call = ['http', 'OpeningsController.list', 'GET /openings', null];
  deepEqual(
    written.map(([number, , ...line]) => [number, ...line]),
    [
      [1, true, 'authenticated', null, null, ...call, 'ann', 'support-7'],
      [2, false, 'forbidden', 'ACCESS_DENIED', '@Roles(hiring_manager)', ...call, 'bob', null],
      [3, false, 'unauthenticated', 'SESSION_REQUIRED', null, ...call, null, null],
    ],
  );
});
