import { equal } from 'node:assert/strict';
import { GoldPartnersController, PartnerRecord, StaffRecord } from '../dist/several-services/src/records.js';
import { expectStatus, sessionAuth, start, trial } from './support.mjs';

// The page has a test of its two services.
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
