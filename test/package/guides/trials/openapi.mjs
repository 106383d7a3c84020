import { deepEqual } from 'node:assert/strict';
import { SessionAuthModule } from 'nestjs-session-auth';
import { MeController, serveDocs } from '../dist/openapi/src/documented.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('OpenAPI', async () => {
  const { moduleRef } = await underTest({
    module: class {},
    imports: [SessionAuthModule.forRoot({ baseUrl: 'https://sessions.example.com/api', apiKey: 'key' })],
    controllers: [MeController],
  });
  const created = moduleRef.createNestApplication();
  serveDocs(created);
  const { app, ask } = await listening(created);

  const { paths } = await (await expectStatus(ask('/docs-json'), 200)).json();
  deepEqual(Object.keys(paths['/me'].get.responses).sort(), ['200', '401', '403', '503']);
  await app.close();
});
