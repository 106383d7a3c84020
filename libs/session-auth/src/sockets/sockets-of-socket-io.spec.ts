import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModulesContainer } from '@nestjs/core';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, Socket } from 'socket.io';
import { io, type Socket as Client } from 'socket.io-client';
import { Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { SessionReader, fromHeader } from '../guard/token-source.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource } from '../module/events/event-source.js';
import { SessionSockets } from './session-sockets.js';

const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };

/** The sockets of an authority, whose service refuses the token `bad`. */
function registration(): { source: EventSource; sockets: SessionSockets } {
  const verdictOf = (token: string): Verdict<UserRecord> =>
    token === 'bad' ? UNAUTHENTICATED : { kind: 'authenticated', user: { username: token } };
  const source = new EventSource();
  const verifier = new SessionVerifier(
    new Lanes(({ token }) => Promise.resolve(verdictOf(token)), new Deadlines(), LIMITS),
  );
  const reader = new SessionReader({
    sources: [fromHeader('x-auth-token')],
    forwardAuthIv: false,
    maxTokenLength: 100,
  });
  const parts = {
    verifier,
    reader,
    authority: 'default',
    ends: source,
    whileOpen: { recheckMs: 60_000, outageGraceMs: 300_000 },
  } as unknown as GuardParts;
  return { source, sockets: new SessionSockets(parts, new ModulesContainer()) };
}

describe('a server of socket.io', () => {
  let server: Server;
  let clients: Client[];
  let source: EventSource;
  let sockets: SessionSockets;

  beforeEach(async () => {
    ({ source, sockets } = registration());
    clients = [];
    const http = createServer();
    server = new IoAdapter(http).createIOServer(0, { connectionStateRecovery: {} } as never);
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

  it('sends nothing to a client that is denied, and names the denial', async () => {
    sockets.protect(server);
    server.on('connect', (socket: Socket) => socket.emit('news'));
    const { client, events } = clientWith('bad');
    const error = await next(client, 'connect_error');
    server.emit('news');
    expect(error).toMatchObject({
      message: 'The session is not valid',
      data: { statusCode: 401, code: 'SESSION_REJECTED' },
    });
    expect([events, server.sockets.sockets.size]).toEqual([[], 0]);
  });

  it('knows the user of a socket that opens, and closes it when its session ends', async () => {
    sockets.protect(server);
    const users: unknown[] = [];
    server.on('connection', (socket: Socket) => users.push(sockets.userOf(socket)?.username));
    const { client, events } = clientWith('good');
    await next(client, 'connect');
    expect(users).toEqual(['good']);
    source.emitEnded(tokenKeyOf('good'));
    expect(await next(client, 'disconnect')).toBe('io server disconnect');
    expect([events, sockets.countSockets()]).toEqual([['exception'], { watched: 0, waiting: 0 }]);
  });

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

  it.each([
    ['good', false, ['first', 'missed', 'room', 'all']],
    ['other', false, ['first', 'all']],
    ['bad', false, ['first']],
    ['good', true, ['first', 'missed', 'room', 'all']],
    ['other', true, ['first', 'all']],
    ['bad', true, ['first']],
  ])(
    'sends what a lost connection missed to a client with the same session only: %s, adapter replaced: %p',
    async (token, replaced, messages) => {
      sockets.protect(server);
      if (replaced) server.adapter(server.adapter() as never);
      const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
      const { client, events } = clientWith('good');
      const socket = await connected;
      await socket.join('room');
      server.to('room').emit('first');
      await next(client, 'first');
      socket.conn.close();
      await next(client, 'disconnect');
      server.to('room').emit('missed');

      client.auth = { token };
      const settled = Promise.race([next(client, 'connect'), next(client, 'connect_error')]);
      client.connect();
      await settled;
      server.to('room').emit('room');
      server.emit('all');
      if (token !== 'bad') await next(client, 'all');
      expect(events).toEqual(messages);
    },
  );
});
