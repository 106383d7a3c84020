import { deepEqual, equal } from 'node:assert/strict';
import { AppModule } from '../dist/graphql/src/app.module.js';
import { listening, trial, underTest } from './support.mjs';

await trial('GraphQL', async () => {
  const { sessions, moduleRef } = await underTest(AppModule);
  const { app, ask } = await listening(moduleRef.createNestApplication());
  const query = async (headers) => {
    const body = JSON.stringify({ query: '{ openings { title salary } }' });
    return (
      await ask('/graphql', { 'content-type': 'application/json', ...headers }, { method: 'POST', body })
    ).json();
  };
  const codesIn = ({ errors }) =>
    errors.map(({ extensions: { code, originalError } }) => [code, originalError.code]);

  const seen = await query(sessions.signInAs({ role: 'hiring_manager', client_name: 'Example Client' }));
  deepEqual(seen, { data: { openings: [{ title: 'Engineer at Example Client', salary: 'much' }] } });

  const inPart = await query(sessions.signInAs({ role: 'new_hire' }));
  equal(inPart.data.openings[0].salary, null);
  deepEqual(codesIn(inPart), [['FORBIDDEN', 'ACCESS_DENIED']]);

  deepEqual(codesIn(await query({})), [['UNAUTHENTICATED', 'SESSION_REQUIRED']]);
  deepEqual(codesIn(await query({ 'x-auth-token': 'unknown' })), [['UNAUTHENTICATED', 'SESSION_REJECTED']]);
  sessions.setDown(true);
  deepEqual(codesIn(await query(sessions.signInAs())), [
    ['INTERNAL_SERVER_ERROR', 'SESSION_SERVICE_UNAVAILABLE'],
  ]);
  await app.close();
});
