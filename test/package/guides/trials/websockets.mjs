import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { AppModule, withSockets } from '../dist/websockets/src/app.module.js';
import { start, trial } from './support.mjs';

await trial('WebSockets', async () => {
  const { sessions, url } = await start(AppModule, (moduleRef) =>
    withSockets(moduleRef.createNestApplication()),
  );
  const connect = (headers) => new WebSocket(url.replace('http', 'ws'), { headers });
  const say = async (headers) => {
    const client = connect(headers);
    await once(client, 'open');
    client.send(JSON.stringify({ event: 'open', data: 'Engineer' }));
    const [message] = await once(client, 'message');
    client.terminate();
    return JSON.parse(message);
  };

  const opened = await say(sessions.signInAs({ role: 'hiring_manager', client_name: 'Example Client' }));
  deepEqual(opened, { event: 'opened', data: 'Engineer at Example Client' });
  const { event, data } = await say(sessions.signInAs({ role: 'new_hire' }));
  deepEqual([event, data.statusCode, data.code], ['exception', 403, 'ACCESS_DENIED']);

  const denied = connect({});
  denied.on('error', () => undefined);
  const [, reply] = await once(denied, 'unexpected-response');
  equal(reply.statusCode, 401);
  equal((await json(reply)).code, 'SESSION_REQUIRED');
});
