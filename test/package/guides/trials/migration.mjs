import { deepEqual } from 'node:assert/strict';
import { AppModule, OpeningsController } from '../dist/migration/src/app.module.js';
import { openings } from '../dist/migration/test/openings.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('migration', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const bearer = (user) => ({ authorization: `Bearer ${sessions.signInAs(user)['x-auth-token']}` });
  await expectStatus(ask('/openings'), 401);
  await expectStatus(ask('/openings/about'), 200);
  const reply = await expectStatus(ask('/openings', bearer()), 200);
  deepEqual(reply.headers.get('cache-control'), 'no-store');
  await app.close();
  deepEqual((await openings()).get(OpeningsController).list(), []);
});
