import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { Controller, Get, Module } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { SessionAuthModule } from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { WebSocket } from 'ws';
import { GoldPartnersController, PartnerRecord, StaffRecord } from '../dist/several-services/block-5.js';
import { AppModule } from '../dist/several-services/src/app.module.js';
import { PartnersGateway } from '../dist/several-services/src/partners.gateway.js';
import { StaffAndPartnersModule } from '../dist/several-services/src/staff-and-partners.module.js';
import { TenantsModule } from '../dist/several-services/src/tenants.module.js';
import { expectStatus, listening, trial } from './support.mjs';

class GatewayModule {}
Module({ imports: [AppModule], providers: [PartnersGateway] })(GatewayModule);

class OpenController {
  list() {
    return 'in';
  }
}
Controller('openings')(OpenController);
Get()(OpenController.prototype, 'list', Object.getOwnPropertyDescriptor(OpenController.prototype, 'list'));
class TenantsApp {}
Module({ imports: [TenantsModule], controllers: [OpenController] })(TenantsApp);

const required = { baseUrl: 'https://sessions.example.com/api', apiKey: 'key' };
class RecordsApp {}
Module({
  imports: [
    SessionAuthModule.forRoot({ ...required, userRecord: StaffRecord }),
    SessionAuthModule.forRoot({ ...required, name: 'partners', userRecord: PartnerRecord }),
  ],
  controllers: [GoldPartnersController],
})(RecordsApp);

/** An application as the guide prints it, with the sessions of each of its authorities. */
async function start(Root, ...names) {
  const all = ['default', ...names].map((authority) => new TestSessions({ authority }));
  const builder = all.reduce(
    (built, sessions) => sessions.install(built),
    Test.createTestingModule({ imports: [Root] }),
  );
  const app = (await builder.compile()).createNestApplication();
  app.useWebSocketAdapter(new WsAdapter(app));
  return { all, ...(await listening(app)) };
}

await trial('two session services', async () => {
  const { all, app, url, ask } = await start(GatewayModule, 'partners');
  const [staff, partners] = all;
  const ann = staff.signInAs({ username: 'ann', role: 'hiring_manager' });
  const partnerToken = (headers) => ({ 'x-partner-token': headers['x-auth-token'] });
  const bob = partnerToken(partners.signInAs({ username: 'bob', role: 'hiring_manager' }));

  equal(await (await ask('/openings', ann)).text(), '{"of":"ann"}');
  equal(await (await ask('/partners/me', bob)).text(), '{"partner":"bob"}');
  for (const wrong of [bob, { 'x-auth-token': bob['x-partner-token'] }])
    await expectStatus(ask('/openings', wrong), 401);
  const denied = await expectStatus(ask('/partners/me', partnerToken(ann)), 401);
  equal(denied.headers.get('www-authenticate'), 'X-Partner-Token realm="session", error="invalid_token"');

  const connect = (headers) => new WebSocket(url.replace('http', 'ws'), { headers });
  const client = connect(bob);
  await once(client, 'open');
  client.send(JSON.stringify({ event: 'ping' }));
  const [message] = await once(client, 'message');
  equal(String(message), '{"event":"pong","data":"pong"}');
  const stranger = connect(ann);
  stranger.on('error', () => undefined);
  const [, reply] = await once(stranger, 'unexpected-response');
  equal(reply.statusCode, 401);

  const closed = once(client, 'close');
  await expectStatus(ask('/partners/session', bob, { method: 'DELETE' }), 200);
  await closed;
  await expectStatus(ask('/partners/me', bob), 401);
  await expectStatus(ask('/openings', ann), 200);
  await app.close();
});

await trial('one registration per module', async () => {
  const { all, app, ask } = await start(StaffAndPartnersModule);
  // Both registrations are the default authority, so that the kit gives both the same sessions.
  const ann = all[0].signInAs({ username: 'ann' });
  for (const path of ['/shifts', '/orders']) {
    await expectStatus(ask(path, {}), 401);
    equal(await (await ask(path, ann)).text(), '{"of":"ann"}');
  }
  await app.close();
});

await trial('one session service per tenant', async () => {
  const { all, app, ask } = await start(TenantsApp, 'acme', 'globex');
  const [own, acme] = all.map((sessions) => sessions.signInAs({ username: 'ann' }));

  await expectStatus(ask('/openings', own), 200);
  await expectStatus(ask('/openings', { ...acme, 'x-tenant': 'acme' }), 200);
  for (const tenant of ['globex', 'default', 'unknown'])
    await expectStatus(ask('/openings', { ...acme, 'x-tenant': tenant }), 401);
  await app.close();
});

await trial('user records of several classes', async () => {
  const { all, app, ask } = await start(RecordsApp, 'partners');
  const [, partners] = all;

  const gold = await ask('/gold', partners.signInAs({ username: 'bob', company: 'Globex', is_gold: true }));
  equal(await gold.text(), '{"partner":"bob","company":"Globex"}');
  await expectStatus(ask('/gold', partners.signInAs({ username: 'eve', company: 'Acme' })), 403);
  await app.close();
});
