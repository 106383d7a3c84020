import { equal } from 'node:assert/strict';
import { Test } from '@nestjs/testing';
import { startSessionService } from 'nestjs-session-auth/testing';
import { GoldPartnersController, PartnerRecord, StaffRecord } from '../dist/several-services/src/records.js';
import { expectStatus, listening, sessionAuth, start, trial } from './support.mjs';

const [staff, partners] = [await startSessionService(), await startSessionService()];
Object.assign(process.env, { STAFF_URL: staff.url, PARTNERS_URL: partners.url });
const { AppModule } = await import('../dist/several-services/src/app.module.js');

await trial('two services in one application', async () => {
  const moduleRef = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const { app, ask } = await listening(moduleRef.createNestApplication());
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
  const gold = {
    module: class {},
    imports: [sessionAuth({ isGlobal: false, userRecord: PartnerRecord })],
    controllers: [GoldPartnersController],
  };
  const { sessions, ask } = await start({ imports: [sessionAuth({ userRecord: StaffRecord }), gold] });
  const bob = await ask('/gold', sessions.signInAs({ username: 'bob', company: 'Globex', is_gold: true }));
  equal(await bob.text(), '{"partner":"bob","company":"Globex"}');
  await expectStatus(ask('/gold', sessions.signInAs({ username: 'eve', company: 'Acme' })), 403);
});

await Promise.all([staff.close(), partners.close()]);
