import { equal } from 'node:assert/strict';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SessionAuthModule } from 'nestjs-session-auth';
import { startSessionService, TestSessions } from 'nestjs-session-auth/testing';
import { GoldPartnersController, PartnerRecord, StaffRecord } from '../dist/several-services/src/records.js';
import { expectStatus, listening, trial } from './support.mjs';

const [staff, partners] = [await startSessionService(), await startSessionService()];
Object.assign(process.env, { STAFF_URL: staff.url, PARTNERS_URL: partners.url });
const { AppModule } = await import('../dist/several-services/src/app.module.js');

const required = { baseUrl: 'https://sessions.example.com/api', apiKey: 'key' };
class GoldModule {}
Module({
  imports: [SessionAuthModule.forRoot({ ...required, isGlobal: false, userRecord: PartnerRecord })],
  controllers: [GoldPartnersController],
})(GoldModule);
class RecordsApp {}
Module({
  imports: [SessionAuthModule.forRoot({ ...required, userRecord: StaffRecord }), GoldModule],
})(RecordsApp);

async function start(Root, prepare = (builder) => builder) {
  const builder = prepare(Test.createTestingModule({ imports: [Root] }));
  const app = (await builder.compile()).createNestApplication();
  return { app, ...(await listening(app)) };
}

await trial('two services in one application', async () => {
  const { app, ask } = await start(AppModule);
  const ann = { 'x-auth-token': staff.signInAs({ username: 'ann', role: 'hiring_manager' }) };
  const bob = { 'x-partner-token': partners.signInAs({ username: 'bob', role: 'hiring_manager' }) };

  equal(await (await ask('/openings', ann)).text(), '{"of":"ann"}');
  equal(await (await ask('/partners/me', bob)).text(), '{"partner":"bob"}');
  for (const wrong of [bob, { 'x-auth-token': bob['x-partner-token'] }])
    await expectStatus(ask('/openings', wrong), 401);
  const denied = await expectStatus(ask('/partners/me', { 'x-partner-token': ann['x-auth-token'] }), 401);
  equal(denied.headers.get('www-authenticate'), 'X-Partner-Token realm="session", error="invalid_token"');
  await expectStatus(ask('/partners/me', {}), 401);

  await expectStatus(ask('/partners/session', bob, { method: 'DELETE' }), 200);
  equal(partners.callsTo('sign_out'), 1);
  await expectStatus(ask('/partners/me', bob), 401);
  await expectStatus(ask('/openings', ann), 200);
  await app.close();
});

await trial('user records of two classes', async () => {
  const sessions = new TestSessions();
  const { app, ask } = await start(RecordsApp, (builder) => sessions.install(builder));
  const gold = await ask('/gold', sessions.signInAs({ username: 'bob', company: 'Globex', is_gold: true }));
  equal(await gold.text(), '{"partner":"bob","company":"Globex"}');
  await expectStatus(ask('/gold', sessions.signInAs({ username: 'eve', company: 'Acme' })), 403);
  await app.close();
});

await Promise.all([staff.close(), partners.close()]);
