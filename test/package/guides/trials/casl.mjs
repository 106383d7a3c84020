import { AppModule } from '../dist/casl/src/app.module.js';
import { expectStatus, start, trial } from './support.mjs';

await trial('CASL', async () => {
  const { sessions, ask } = await start(AppModule);
  const manager = sessions.signInAs({ username: 'ann', role: 'hiring_manager' });
  const newHire = sessions.signInAs({ username: 'bob', role: 'new_hire' });
  const put = { method: 'PUT' };

  await expectStatus(ask('/openings/1'), 401);
  await expectStatus(ask('/openings/1', manager), 200);
  await expectStatus(ask('/openings/1', newHire), 403);
  await expectStatus(ask('/openings/1', manager, put), 200);
  await expectStatus(ask('/openings/2', manager, put), 403);
  await expectStatus(ask('/openings/2', newHire, put), 200);
  await expectStatus(ask('/openings/3', manager, put), 403);
});
