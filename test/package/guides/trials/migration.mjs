import { AppModule } from '../dist/migration/src/app.module.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('migration', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  await expectStatus(ask('/me'), 401);
  await expectStatus(ask('/me', sessions.signInAs()), 200);
  await app.close();
});
