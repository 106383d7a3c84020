import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModulesContainer } from '@nestjs/core';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, Socket } from 'socket.io';
import { io, type Socket as Client } from 'socket.io-client';
import { partsWith } from '../../../../test/support/session-parts.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { EventSource } from '../module/events/event-source.js';
import { SessionSockets } from './session-sockets.js';

describe('a server of socket.io', () => {
  let server: Server;
  let clients: Client[];
  let source: EventSource;
  let sockets: SessionSockets;

  beforeEach(async () => {
    const parts = partsWith(({ token }) =>
      Promise.resolve({ kind: 'authenticated', user: { username: token } }),
    );
    source = parts.ends;
    sockets = new SessionSockets(parts, new ModulesContainer());
    clients = [];
    const http = createServer();
    server = new IoAdapter(http).createIOServer(0);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const client of clients) client.disconnect();
    await server.close();
  });

  /** A client that connects, and the names of the events that it gets. */
  function clientWith(token: string): { client: Client; events: string[] } {
    const { port } = server.httpServer.address() as AddressInfo;
    const client = io(`http://127.0.0.1:${port}`, {
      auth: { token },
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    });
    clients.push(client);
    const events: string[] = [];
    client.onAny((event: string) => events.push(event));
    return { client, events };
  }

  const next = (emitter: Pick<Client, 'once'>, event: string): Promise<unknown> =>
    new Promise((resolve) => emitter.once(event, resolve));

  it('sends nothing of the application to a socket whose session ends while it opens', async () => {
    sockets.protect(server);
    server.use((_socket, open) => {
      source.emitEnded(tokenKeyOf('good'));
      open();
    });
    for (const event of ['connect', 'connection'] as const)
      server.on(event, (socket: Socket) => socket.emit('news'));
    const { client, events } = clientWith('good');
    await next(client, 'disconnect');
    expect([events, sockets.countSockets().watched]).toEqual([['exception'], 0]);
  });

  it('watches no socket whose connection closes before its check', async () => {
    const opened = new Promise<() => void>((resolve) => {
      server.use((socket, open) => {
        socket.conn.once('close', () => resolve(open));
        clients[0]?.disconnect();
      });
    });
    sockets.protect(server);
    clientWith('good');
    (await opened)();
    await new Promise(setImmediate);
    expect(sockets.countSockets()).toEqual({ watched: 0, waiting: 0 });
  });
});
