import { equal, match } from 'node:assert/strict';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../dist/fastify/src/app.module.js';
import { start } from '../dist/fastify/src/start.js';
import { serveDocs } from '../dist/openapi/src/documented.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('Fastify', async () => {
  const started = await start(0);
  await expectStatus(fetch(`http://127.0.0.1:${started.getHttpServer().address().port}/me`), 401);
  await started.close();

  const { sessions, moduleRef } = await underTest(AppModule);
  sessions.addUser({ username: 'ann', password: 'ann-demo' });
  const app = moduleRef.createNestApplication(new FastifyAdapter());
  serveDocs(app);
  const { ask } = await listening(app);
  const credentials = JSON.stringify({ username: 'ann', password: 'ann-demo' });
  const signIn = await expectStatus(
    ask('/session', { 'content-type': 'application/json' }, { method: 'POST', body: credentials }),
    204,
  );
  const cookie = signIn.headers.get('set-cookie').split(';')[0];
  match(cookie, /^__Host-session=\S+$/);
  const me = await expectStatus(ask('/me', { cookie }), 200);
  equal((await me.json()).username, 'ann');
  await expectStatus(ask('/me', sessions.signInAs()), 200);
  await expectStatus(ask('/me', { cookie }, { method: 'HEAD' }), 200);
  await expectStatus(ask('/me', {}, { method: 'HEAD' }), 401);
  match(await (await ask('/docs')).text(), /swagger-ui/);
  await expectStatus(ask('/session', { cookie }, { method: 'DELETE' }), 204);
  await expectStatus(ask('/me', { cookie }), 401);
  await app.close();
});
