import { equal } from 'node:assert/strict';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { enableCors } from '../dist/neighbours/src/cors.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

class GuardedController {
  read() {
    return 'read';
  }
}
for (const decorate of [Controller('guarded'), UseGuards(SessionAuthGuard)]) decorate(GuardedController);
const read = Object.getOwnPropertyDescriptor(GuardedController.prototype, 'read');
Get()(GuardedController.prototype, 'read', read);

await trial('beside other packages', async () => {
  const session = SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'key' });
  const { sessions, moduleRef } = await underTest({
    module: class {},
    imports: [session],
    controllers: [GuardedController],
  });
  const created = moduleRef.createNestApplication();
  enableCors(created);
  const { app, ask } = await listening(created);

  await expectStatus(ask('/guarded', sessions.signInAs()), 200);
  const denied = await expectStatus(ask('/guarded', { origin: 'https://app.example.com' }), 401);
  equal(denied.headers.get('access-control-expose-headers'), 'retry-after,www-authenticate');
  equal(denied.headers.get('access-control-allow-origin'), 'https://app.example.com');
  await app.close();
});
