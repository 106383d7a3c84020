import { deepEqual, equal } from 'node:assert/strict';
import { SessionAuthModule } from 'nestjs-session-auth';
import { AppModule } from '../dist/README/block-1.js';
import { OpeningsController } from '../dist/README/block-2.js';
import { SessionController } from '../dist/README/block-3.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('README: the first application', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const manager = sessions.signInAs({ role: 'hiring_manager', client_name: 'Example Client' });

  await expectStatus(ask('/openings'), 401);
  await expectStatus(ask('/openings', sessions.signInAs({ role: 'new_hire' })), 403);
  const list = await expectStatus(ask('/openings', manager), 200);
  deepEqual(await list.json(), [{ id: 1, title: 'Engineer', client: 'Example Client' }]);
  sessions.setDown(true);
  const down = await expectStatus(ask('/openings', manager), 503);
  equal(Number.isInteger(Number(down.headers.get('retry-after'))), true);
  await app.close();
});

await trial('README: its controllers', async () => {
  const options = { baseUrl: 'https://sessions.example.com/api', apiKey: 'your-application-key', protectAllRoutes: true };
  const root = { module: class {}, imports: [SessionAuthModule.forRoot(options)], controllers: [OpeningsController, SessionController] };
  const { sessions, moduleRef } = await underTest(root);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  sessions.addUser({ username: 'ann', password: 'ann-demo' }, { role: 'hiring_manager', sub_role: 'approver', ats_enabled: true });
  const signIn = (password) =>
    ask(
      '/session',
      {},
      { method: 'POST', body: JSON.stringify({ username: 'ann', password }), headers: { 'content-type': 'application/json' } },
    );

  await expectStatus(signIn('wrong'), 401);
  const { user, token } = await (await expectStatus(signIn('ann-demo'), 201)).json();
  equal(user.username, 'ann');
  equal('auth_token' in user, false);
  const ann = { 'x-auth-token': token };
  await expectStatus(ask('/openings/teaser'), 200);
  await expectStatus(ask('/openings/report', ann), 200);
  await expectStatus(ask('/openings/1/approval', ann, { method: 'POST' }), 201);
  await expectStatus(ask('/openings/1/approval', sessions.signInAs({ sub_role: 'recruiter' }), { method: 'POST' }), 403);
  await expectStatus(ask('/openings/session', ann, { method: 'DELETE' }), 200);
  await expectStatus(ask('/openings/report', ann), 401);
  await app.close();
});
