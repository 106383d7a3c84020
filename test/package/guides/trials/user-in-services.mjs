import { deepEqual, equal } from 'node:assert/strict';
import { createServer } from 'node:http';
import { HttpModule } from '@nestjs/axios';
import { AppModule } from '../dist/user-in-services/src/app.module.js';
import { expectStatus, start, trial } from './support.mjs';

/** Another service, which answers with the session that it gets. */
const payroll = createServer(({ headers }, reply) => {
  const session = ['x-auth-token', 'x-auth-iv', 'x-api-key'].map((name) => headers[name] ?? null);
  reply.setHeader('content-type', 'application/json').end(JSON.stringify(session));
});
await new Promise((resolve) => payroll.listen(0, '127.0.0.1', resolve));
process.env.PAYROLL_URL = `http://127.0.0.1:${payroll.address().port}`;
const { SlipsController } = await import('../dist/user-in-services/src/slips.js');

await trial('the user in services', async () => {
  const { sessions, ask } = await start({
    imports: [AppModule, HttpModule.register({})],
    controllers: [SlipsController],
  });
  const headers = { ...sessions.signInAs({ username: 'ann' }), 'x-auth-iv': 'iv' };

  await expectStatus(ask('/salaries'), 401);
  equal(await (await ask('/salaries', headers)).text(), 'salaries for ann');
  deepEqual(await (await ask('/slips', headers)).json(), [headers['x-auth-token'], 'iv', null]);
  payroll.close();
});
