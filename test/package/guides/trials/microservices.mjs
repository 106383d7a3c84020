import { deepEqual, equal } from 'node:assert/strict';
import { ClientProxyFactory } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { AppModule, overTcp } from '../dist/microservices/src/app.module.js';
import { firstPage } from '../dist/microservices/src/client.js';
import { freePort, trial, underTest } from './support.mjs';

await trial('microservices', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const options = overTcp(await freePort());
  const app = moduleRef.createNestMicroservice({ ...options, logger: ['error', 'warn'] });
  await app.listen();
  const client = ClientProxyFactory.create(options);
  const tokenOf = (fields) => sessions.signInAs(fields)['x-auth-token'];
  const refusal = (called) =>
    called.then(
      () => 'no refusal',
      ({ status, code }) => [status, code],
    );
  const close = (token) => firstValueFrom(client.send('openings.close', { token }));

  deepEqual(await firstPage(client, tokenOf({ client_name: 'Example Client' })), [
    'page 1 of Example Client',
  ]);
  equal((await close(tokenOf({ role: 'hiring_manager', username: 'ann' }))).closedBy, 'ann');
  deepEqual(await refusal(close(tokenOf({ role: 'new_hire' }))), ['error', 'ACCESS_DENIED']);
  deepEqual(await refusal(firstPage(client, 'unknown')), ['error', 'SESSION_REJECTED']);
  deepEqual(await refusal(firstPage(client)), ['error', 'SESSION_REQUIRED']);
  client.close();
  await app.close();
});
