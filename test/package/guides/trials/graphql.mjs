import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { sessionSockets } from 'nestjs-session-auth/sockets';
import { WebSocket } from 'ws';
import { AppModule } from '../dist/graphql/src/app.module.js';
import { graphql } from '../dist/graphql/src/graphql-with-subscriptions.js';
import { OpeningsResolver } from '../dist/graphql/src/openings.resolver.js';
import { sessionAuth, start, trial } from './support.mjs';

await trial('GraphQL', async () => {
  const { sessions, post } = await start(AppModule);
  const query = async (headers) =>
    (await post('/graphql', { query: '{ openings { title salary } }' }, headers)).json();
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
  await trySockets();
});

/** A socket without a session is closed before its first operation. */
async function trySockets() {
  const { sessions, url } = await start({
    imports: [sessionAuth({ plugins: [sessionSockets] }), graphql],
    providers: [OpeningsResolver],
  });
  const connect = async (payload) => {
    const client = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(client, 'open');
    client.send(JSON.stringify({ type: 'connection_init', payload }));
    return client;
  };
  const denied = await connect({});
  equal((await once(denied, 'close'))[0], 4401);
  const admitted = await connect({ token: sessions.signInAs()['x-auth-token'] });
  equal(JSON.parse((await once(admitted, 'message'))[0]).type, 'connection_ack');
  admitted.terminate();
}
