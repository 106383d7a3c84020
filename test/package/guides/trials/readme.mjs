import { deepEqual, equal } from 'node:assert/strict';
import { AppModule } from '../dist/README/src/app.module.js';
import { expectStatus, start, trial } from './support.mjs';

await trial('README', async () => {
  const { sessions, ask } = await start(AppModule);
  const manager = sessions.signInAs({ role: 'hiring_manager', client_name: 'Example Client' });

  await expectStatus(ask('/openings'), 401);
  await expectStatus(ask('/openings', sessions.signInAs({ role: 'new_hire' })), 403);
  const list = await expectStatus(ask('/openings', manager), 200);
  deepEqual(await list.json(), [{ id: 1, title: 'Engineer', client: 'Example Client' }]);
  sessions.setDown(true);
  const down = await expectStatus(ask('/openings', manager), 503);
  equal(Number.isInteger(Number(down.headers.get('retry-after'))), true);
});
