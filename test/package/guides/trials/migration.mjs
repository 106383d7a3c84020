import { equal } from 'node:assert/strict';
import { AppModule } from '../dist/migration/src/app.module.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('migration', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  await expectStatus(ask('/me'), 401);
  const reply = await expectStatus(ask('/me', sessions.signInAs()), 200);
  equal('auth_token' in (await reply.json()), false);
  equal(reply.headers.get('cache-control'), 'no-store');
  await app.close();
});
