import { equal } from 'node:assert/strict';
import { enableCors } from '../dist/neighbours/src/cors.js';
import { MeController } from '../dist/openapi/src/documented.js';
import { expectStatus, sessionAuth, start, trial } from './support.mjs';

await trial('beside other packages', async () => {
  const root = { imports: [sessionAuth()], controllers: [MeController] };
  const { sessions, ask } = await start(root, (moduleRef) => {
    const app = moduleRef.createNestApplication();
    enableCors(app);
    return app;
  });

  await expectStatus(ask('/me', sessions.signInAs()), 200);
  const { headers } = await expectStatus(ask('/me', { origin: 'https://app.example.com' }), 401);
  equal(headers.get('access-control-expose-headers'), 'retry-after,www-authenticate');
  equal(headers.get('access-control-allow-origin'), 'https://app.example.com');
});
