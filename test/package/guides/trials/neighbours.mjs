import { equal } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { SessionAuthModule } from 'nestjs-session-auth';
import { enableCors } from '../dist/neighbours/src/cors.js';
import { ReportsController } from '../dist/neighbours/src/reports.controller.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('beside other packages', async () => {
  mkdirSync('reports', { recursive: true });
  writeFileSync('reports/salaries.csv', 'ann,1\n');
  const session = SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'key' });
  const { sessions, moduleRef } = await underTest({
    module: class {},
    imports: [session],
    controllers: [ReportsController],
  });
  const created = moduleRef.createNestApplication();
  enableCors(created);
  const { app, ask } = await listening(created);

  await expectStatus(ask('/reports/salaries', sessions.signInAs({ role: 'new_hire' })), 403);
  const report = await expectStatus(
    ask('/reports/salaries', sessions.signInAs({ role: 'hiring_manager' })),
    200,
  );
  equal(await report.text(), 'ann,1\n');
  const denied = await expectStatus(ask('/reports/salaries', { origin: 'https://app.example.com' }), 401);
  equal(denied.headers.get('access-control-expose-headers'), 'retry-after,www-authenticate');
  equal(denied.headers.get('access-control-allow-origin'), 'https://app.example.com');
  await app.close();
});
