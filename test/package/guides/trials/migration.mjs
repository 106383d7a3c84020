import { equal } from 'node:assert/strict';
import { AppModule } from '../dist/migration/src/app.module.js';
import { expectStatus, start, trial } from './support.mjs';

await trial('migration', async () => {
  const { sessions, ask } = await start(AppModule);
  const bearer = (user) => ({ authorization: `Bearer ${sessions.signInAs(user)['x-auth-token']}` });
  await expectStatus(ask('/openings'), 401);
  await expectStatus(ask('/openings/about'), 200);
  const reply = await expectStatus(ask('/openings', bearer()), 200);
  equal(reply.headers.get('cache-control'), 'no-store');
});
