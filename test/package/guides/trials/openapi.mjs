import { deepEqual } from 'node:assert/strict';
import { SwaggerModule } from '@nestjs/swagger';
import { SessionAuthModule } from 'nestjs-session-auth';
import { MeController, serveDocs } from '../dist/openapi/src/documented.js';
import { config, PartnersController } from '../dist/openapi/src/partners.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

const required = { baseUrl: 'https://sessions.example.com/api', apiKey: 'key' };

await trial('OpenAPI', async () => {
  const { moduleRef } = await underTest({
    module: class {},
    imports: [
      SessionAuthModule.forRoot(required),
      SessionAuthModule.forRoot({ ...required, name: 'partners' }),
    ],
    controllers: [MeController, PartnersController],
  });
  const created = moduleRef.createNestApplication();
  serveDocs(created);
  const { app, ask } = await listening(created);

  const { paths } = await (await expectStatus(ask('/docs-json'), 200)).json();
  deepEqual(Object.keys(paths['/me'].get.responses).sort(), ['200', '401', '403', '503']);
  const both = SwaggerModule.createDocument(app, config);
  deepEqual(both.paths['/partners'].get.security, [{ 'session-partners': [] }]);
  const { in: place, name } = both.components.securitySchemes['session-partners'];
  deepEqual([place, name], ['header', 'X-Partner-Token']);
  await app.close();
});
