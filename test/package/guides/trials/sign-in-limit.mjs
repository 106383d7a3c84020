import { equal, ok } from 'node:assert/strict';
import { ExpressAdapter } from '@nestjs/platform-express';
import { adapter } from '../dist/sign-in-limit/src/adapter.js';
import { AppModule } from '../dist/sign-in-limit/src/app.module.js';
import { trustProxy } from '../dist/sign-in-limit/src/trust-proxy.js';
import { expectStatus, listening, trial, underTest } from './support.mjs';

await trial('sign-in limit', async () => {
  await tryOn(new ExpressAdapter(), trustProxy);
  await tryOn(adapter, () => undefined);
});

async function tryOn(platform, configure) {
  const { sessions, moduleRef } = await underTest(AppModule);
  sessions.addUser({ username: 'ann', password: 'secret' });
  const created = moduleRef.createNestApplication(platform);
  configure(created);
  const { app, ask } = await listening(created);
  const signIn = (password, client) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
    return ask('/session', headers, { method: 'POST', body: JSON.stringify({ username: 'ann', password }) });
  };

  for (let attempt = 0; attempt < 5; attempt += 1) await expectStatus(signIn('wrong', '203.0.113.7'), 401);
  const refused = await expectStatus(signIn('secret', '203.0.113.7'), 429);
  const body = await refused.json();
  equal(body.message, 'Too many sign-ins have failed; try again later');
  equal(body.code, 'TOO_MANY_ATTEMPTS');
  equal(refused.headers.get('retry-after'), String(body.retryAfterSeconds));
  equal(refused.headers.get('cache-control'), 'no-store');
  ok(body.retryAfterSeconds > 0 && body.retryAfterSeconds <= 900);
  await expectStatus(signIn('secret', '198.51.100.9'), 200);
  sessions.resetSignInLimit();
  await expectStatus(signIn('secret', '203.0.113.7'), 200);
  await app.close();
}
