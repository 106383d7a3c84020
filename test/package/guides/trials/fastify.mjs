import { match } from 'node:assert/strict';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../dist/README/src/app.module.js';
import { serveDocs } from '../dist/openapi/src/documented.js';
import { start } from '../dist/runtimes/src/start.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('Fastify', async () => {
  const started = await start(AppModule, 0);
  await expectStatus(fetch(`http://127.0.0.1:${started.getHttpServer().address().port}/openings`), 401);
  await started.close();

  const { sessions, moduleRef } = await underTest(AppModule);
  const app = moduleRef.createNestApplication(new FastifyAdapter());
  serveDocs(app);
  const { ask } = await listening(app);
  const manager = sessions.signInAs({ role: 'hiring_manager' });
  await expectStatus(ask('/openings', manager), 200);
  await expectStatus(ask('/openings', sessions.signInAs({ role: 'new_hire' })), 403);
  await expectStatus(ask('/openings', manager, { method: 'HEAD' }), 200);
  await expectStatus(ask('/openings', {}, { method: 'HEAD' }), 401);
  match(await (await ask('/docs')).text(), /swagger-ui/);
  await app.close();
});
