import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { WebSocket, WebSocketServer } from 'ws';
import { always } from '../support/always.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

describe('a socket that no gateway opens, when the application has it watched,', () => {
  const bed = testbed();
  const servers: WebSocketServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** A server that greets each client whose session is accepted. */
  async function start() {
    const service = await bed.service();
    const { app } = await bed.sample({
      baseUrl: service.url,
      options: { plugins: [sessionSockets], retry: false, breaker: false },
    });
    const sockets = app.get(SessionSockets);
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    servers.push(server);
    server.on('connection', (client: WebSocket, request: IncomingMessage) => {
      void sockets.watch(client, request).then((user) => user && client.send('greeting'));
    });
    await once(server, 'listening');
    return { service, url: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
  }

  /** How a client that presents this token ends, and what it has received before. */
  async function endOf(url: string, token: string | undefined): Promise<unknown> {
    const client = new WebSocket(url, { headers: token === undefined ? {} : { 'x-auth-token': token } });
    const received: string[] = [];
    client.on('message', (data: Buffer) => void received.push(data.toString()));
    const [code, reason] = (await once(client, 'close')) as [number, Buffer];
    return { code, reason: reason.toString(), received };
  }

  it.each([
    ['no token', undefined, 4401, 'SESSION_REQUIRED'],
    ['what can be no token', 'not a token', 4401, 'SESSION_REJECTED'],
    ['a refused token', 'bad', 4401, 'SESSION_REJECTED'],
    ['a token of which the service cannot say', 'unknown', 4503, 'SESSION_SERVICE_UNAVAILABLE'],
  ])(
    'is closed before it receives anything if its client presents %s',
    async (_what, token, code, reason) => {
      const { service, url } = await start();
      service.on('user_details', reply(token === 'unknown' ? 500 : 401));

      expect(await always(() => endOf(url, token))).toEqual({ code, reason, received: [] });
    },
  );

  it('is admitted as soon as its session is accepted', async () => {
    const { service, url } = await start();
    const client = new WebSocket(url, { headers: { 'x-auth-token': service.signInAs({}) } });
    const [data] = (await once(client, 'message')) as [Buffer];
    expect(data.toString()).toBe('greeting');
    client.terminate();
  });
});
