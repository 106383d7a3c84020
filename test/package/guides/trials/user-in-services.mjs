import { equal } from 'node:assert/strict';
import { AppModule } from '../dist/user-in-services/src/app.module.js';
import { expectStatus, start, trial } from './support.mjs';

// `context/session-handed-on` runs the code that calls other services.
await trial('the user in services', async () => {
  const { sessions, ask } = await start(AppModule);
  await expectStatus(ask('/salaries'), 401);
  equal(await (await ask('/salaries', sessions.signInAs({ username: 'ann' }))).text(), 'salaries for ann');
});
