import { deepEqual } from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { SessionAuthService } from 'nestjs-session-auth';
import { CompanyController } from '../dist/caching/src/company.controller.js';
import { sessionAuth } from '../dist/caching/src/session-auth.js';
import { expectStatus, start, trial } from './support.mjs';

await trial('caching', async () => {
  const { sessions, app, ask } = await start({ imports: [sessionAuth], controllers: [CompanyController] });

  const sources = [];
  subscribe('nestjs-session-auth:check', ({ source }) => sources.push(source));
  const endedElsewhere = sessions.signInAs();
  await expectStatus(ask('/company', endedElsewhere), 200);
  sessions.revoke(endedElsewhere);
  await expectStatus(ask('/company', endedElsewhere), 200);
  deepEqual(sources, ['service', 'cache']);
  await expectStatus(ask('/company', endedElsewhere, { method: 'DELETE' }), 401);
  await expectStatus(ask('/company', endedElsewhere), 401);

  const signedOut = sessions.signInAs();
  await expectStatus(ask('/company', signedOut), 200);
  await app.get(SessionAuthService).signOut(signedOut['x-auth-token']);
  await expectStatus(ask('/company', signedOut), 401);

  const cached = sessions.signInAs();
  await expectStatus(ask('/company', cached), 200);
  sessions.setDown(true);
  await expectStatus(ask('/company', cached), 200);
  await expectStatus(ask('/company', cached, { method: 'DELETE' }), 503);
  await expectStatus(ask('/company', sessions.signInAs()), 503);
});
