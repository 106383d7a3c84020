import { deepEqual, match } from 'node:assert/strict';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../dist/README/src/app.module.js';
import { MeController, serveDocs } from '../dist/openapi/src/documented.js';
import { start as startFastify } from '../dist/runtimes/src/start.js';
import { bodyOf, expectStatus, sessionAuth, start, trial } from './support.mjs';

function documented(moduleRef, adapter) {
  const app = moduleRef.createNestApplication(adapter);
  serveDocs(app);
  return app;
}

await trial('OpenAPI', async () => {
  const { ask } = await start({ imports: [sessionAuth()], controllers: [MeController] }, documented);
  const { paths } = await bodyOf(ask('/docs-json'), 200);
  deepEqual(Object.keys(paths['/me'].get.responses).sort(), ['200', '401', '403', '503']);
});

await trial('Fastify', async () => {
  const started = await startFastify(AppModule, 0);
  await expectStatus(fetch(`http://127.0.0.1:${started.getHttpServer().address().port}/openings`), 401);
  await started.close();

  const { sessions, ask } = await start(AppModule, (moduleRef) =>
    documented(moduleRef, new FastifyAdapter()),
  );
  const manager = sessions.signInAs({ role: 'hiring_manager', client_name: 'Example Client' });
  const openings = [{ id: 1, title: 'Engineer', client: 'Example Client' }];
  deepEqual(await bodyOf(ask('/openings', manager), 200), openings);
  await expectStatus(ask('/openings', sessions.signInAs({ role: 'new_hire' })), 403);
  await expectStatus(ask('/openings', manager, { method: 'HEAD' }), 200);
  await expectStatus(ask('/openings', {}, { method: 'HEAD' }), 401);
  match(await (await ask('/docs')).text(), /swagger-ui/);
});
