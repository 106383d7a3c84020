import { rejects } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { SessionAuthService } from 'nestjs-session-auth';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expectStatus, sessionAuth, start, trial } from './support.mjs';

const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const SECRET = 'the secret of the webhook';

/** An identity provider that publishes its key. */
async function startProvider() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] });
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end(keys),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const sign = (payload, audience = 'openings') =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'secevent+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setJti('event')
      .sign(privateKey);
  return { server, issuer, sign };
}

await trial('sessions that end elsewhere', async () => {
  const provider = await startProvider();
  Object.assign(process.env, { CAEP_ISSUER: provider.issuer, WEBHOOK_SECRET: SECRET });
  const { CaepController } = await import('../dist/ended-elsewhere/src/caep.controller.js');
  const { WebhookController } = await import('../dist/ended-elsewhere/src/webhook.controller.js');
  const root = {
    imports: [sessionAuth({ cache: { ttlMs: 300_000 } })],
    controllers: [CaepController, WebhookController],
  };
  const { app, sessions, ask } = await start(root, (moduleRef) =>
    moduleRef
      .createNestApplication({ rawBody: true })
      .useBodyParser('raw', { type: 'application/secevent+jwt' }),
  );
  const post = (path, headers, body) => ask(path, headers, { method: 'POST', body });
  const service = app.get(SessionAuthService);

  /** A session that is cached and has ended at the service is good until it is ended here. */
  async function endsBy(username, end) {
    const headers = sessions.signInAs({ username });
    const verify = () => service.verify(headers['x-auth-token']);
    await verify();
    sessions.revoke(headers);
    await verify();
    await end();
    const deadline = performance.now() + 10_000;
    const isGood = () => verify().then(Boolean, () => false);
    while ((await isGood()) && performance.now() < deadline) await setTimeout(10);
    await rejects(verify(), { code: 'SESSION_REJECTED' });
  }

  const body = JSON.stringify({ username: 'ann' });
  const report = (signature) =>
    post('/webhooks/session-ended', { 'content-type': 'application/json', ...signature }, body);
  await expectStatus(report({ 'x-signature': 'ff' }), 401);
  await expectStatus(report({}), 401);
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  await endsBy('ann', () => expectStatus(report({ 'x-signature': signature }), 204));

  const token = { 'content-type': 'application/secevent+jwt' };
  const event = {
    sub_id: { format: 'email', email: 'eve@example.com' },
    events: { [SESSION_REVOKED]: { event_timestamp: 1 } },
  };
  await expectStatus(post('/caep/events', token, await provider.sign(event, 'another')), 400);
  await expectStatus(post('/caep/events', token, 'no token'), 400);
  await endsBy('eve@example.com', async () =>
    expectStatus(post('/caep/events', token, await provider.sign(event)), 202),
  );

  await endsBy('ann', () => service.forgetUser('ann'));
  await endsBy('bob', () => service.forgetAll());

  provider.server.close();
});
