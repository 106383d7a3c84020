import { equal } from 'node:assert/strict';
import { ClientsController } from '../dist/roles-and-scopes/src/clients.controller.js';
import { OpeningsModule } from '../dist/roles-and-scopes/src/openings.module.js';
import { expectStatus, sessionAuth, start, trial } from './support.mjs';

await trial('roles and scopes', async () => {
  const { sessions, ask } = await start({
    imports: [sessionAuth({ audit: 'error' }), OpeningsModule],
    controllers: [ClientsController],
  });
  const manager = (fields) =>
    sessions.signInAs({ role: 'hiring_manager', ccl_info: { client_id: 7 }, ...fields });
  const newHire = sessions.signInAs({ role: 'new_hire', first_name: 'Bo' });

  /** The expected status of a path for each caller. */
  const answers = [
    ['/clients', undefined, 401],
    ['/clients', newHire, 403],
    ['/clients', manager(), 200],
    ['/clients', manager({ role: 'Hiring_Manager' }), 403],
    ['/clients/about', undefined, 200],
    ['/clients/tasks', newHire, 200],
    ['/clients/approvals', manager({ sub_role: 'approver' }), 200],
    ['/clients/approvals', manager({ sub_role: 'recruiter' }), 403],
    ['/clients/approvals', sessions.signInAs({ role: 'new_hire', sub_role: 'approver' }), 403],
    ['/clients/candidates', manager({ ats_enabled: true }), 200],
    ['/clients/candidates', manager({ ats_enabled: null }), 403],
    ['/clients/english', manager({ preffered_language: 'en' }), 200],
    ['/clients/english', manager({ preffered_language: 'fr' }), 403],
    ['/clients/7', manager(), 200],
    ['/clients/8', manager(), 403],
    ['/clients/7', manager({ ccl_info: null }), 403],
    ['/openings/1', manager({ username: 'ann' }), 200],
    ['/openings/1', manager({ username: 'bob' }), 403],
  ];
  for (const [path, headers, status] of answers) await expectStatus(ask(path, headers), status);
  equal(await (await ask('/clients/news')).text(), 'Hello stranger');
  equal(await (await ask('/clients/news', newHire)).text(), 'Hello Bo');
  await expectStatus(ask('/clients/7', manager(), { method: 'DELETE' }), 200);
});
