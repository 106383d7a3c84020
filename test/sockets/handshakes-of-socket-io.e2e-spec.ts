import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { afterDelay, json } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { SOCKET_IO } from './peers.js';
import { Feed, FeedGateway } from './feed.gateway.js';
import { socketTrial } from './socket-trial.js';

/** A namespace of socket.io, as far as a test has to do with it. */
interface Namespace {
  use(middleware: (socket: object, next: (error?: Error) => void) => void): unknown;
  emit(event: string, data: string): unknown;
}

interface IoServer extends Namespace {
  of(name: string | RegExp): Namespace;
}

const NEWS_EVERY_MS = 2;

@Injectable()
abstract class ProtectingGateway implements OnGatewayInit, OnGatewayConnection {
  constructor(
    readonly sockets: SessionSockets,
    readonly feed: Feed,
  ) {}

  afterInit(server: object): void {
    this.feed.server = server as Feed['server'];
    this.sockets.protect(server);
  }

  handleConnection(client: SocketClient): void {
    this.feed.clients.push(client);
    this.feed.connected.push(this.sockets.userOf(client)?.username);
  }
}

@WebSocketGateway({ namespace: 'news' })
class NamespaceGateway extends ProtectingGateway {}

@WebSocketGateway({ connectionStateRecovery: { maxDisconnectionDuration: 60_000 } })
class RecoveringGateway extends ProtectingGateway {}

describe('handshakes of socket.io', () => {
  const trial = socketTrial(SOCKET_IO);
  const server = (): IoServer => trial.feed.server as unknown as IoServer;

  it('every namespace of a server is protected: present, created later, and dynamic [P03]', async () => {
    await trial.start();
    server().of('/later');
    server().of(/^\/dynamic-\d+$/);
    const timer = setInterval(
      () => ['/later', '/dynamic-1'].forEach((name) => server().of(name).emit('news', 'secret')),
      NEWS_EVERY_MS,
    );
    const token = trial.service.signInAs({});
    trial.service.on('user_details', ({ headers }, ...rest) =>
      afterDelay(50, json(headers['x-auth-token'] === token ? { username: 'ann' } : {}))(
        { headers } as never,
        ...rest,
      ),
    );
    try {
      for (const namespace of ['/', '/later', '/dynamic-1', '/dynamic-2']) {
        for (const presented of [undefined, 'junk']) {
          expect(await trial.attemptIn(namespace, presented)).toMatchObject({
            opened: false,
            messages: [],
            denial: { statusCode: expect.any(Number) },
          });
        }
        expect((await trial.attemptIn(namespace, token)).opened).toBe(true);
      }
    } finally {
      clearInterval(timer);
    }
  });

  it('a gateway of one namespace protects the whole server [P03]', async () => {
    await trial.start({}, [NamespaceGateway]);

    for (const namespace of ['/news', '/']) {
      expect(await trial.attemptIn(namespace, 'junk')).toMatchObject({
        opened: false,
        messages: [],
        denial: { statusCode: 401 },
      });
    }
    expect((await trial.attemptIn('/news', trial.service.signInAs({}))).opened).toBe(true);
    expect(trial.feed.connected).toEqual(['ann']);
  });

  it('long polling is denied as websocket is, before and after an upgrade [P03]', async () => {
    await trial.start();
    for (const transports of [['polling'], ['polling', 'websocket']]) {
      expect(await trial.attempt('junk', { transports })).toMatchObject({
        opened: false,
        messages: [],
        denial: { statusCode: 401 },
      });
      expect((await trial.attempt(trial.service.signInAs({}), { transports })).opened).toBe(true);
    }
    expect(trial.feed.connected).toEqual(['ann', 'ann']);
  });

  /** A client that speaks the protocol itself. */
  function rawClient(): Promise<{ socket: WebSocket; packets: string[] }> {
    const socket = new WebSocket(`${trial.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
    const packets: string[] = [];
    socket.on('message', (packet: Buffer) => packets.push(packet.toString()));
    return new Promise((resolve) => socket.once('message', () => resolve({ socket, packets })));
  }

  it('a connection that joins no namespace receives nothing [P03]', async () => {
    await trial.start();
    const { socket, packets } = await rawClient();
    const allowed = await trial.attempt(trial.service.signInAs({}));
    await until('many messages', () => allowed.messages.length > 20);

    expect(packets.filter((packet) => packet.startsWith('42'))).toEqual([]);
    socket.terminate();
  });

  it('repeated CONNECT packets with other tokens and to other namespaces open only the namespaces for which they present a session [P03]', async () => {
    await trial.start();
    server().of('/other');
    const good = trial.service.signInAs({});
    const { socket, packets } = await rawClient();
    for (let index = 0; index < 50; index += 1) socket.send(`40{"token":"junk-${index}"}`);
    for (let index = 0; index < 50; index += 1) socket.send(`40/other,{"token":"junk-${index}"}`);
    await until('the answers', () => packets.filter((packet) => packet.startsWith('44')).length === 100);
    expect(packets.filter((packet) => packet.startsWith('42'))).toEqual([]);
    expect(trial.feed.connected).toEqual([]);
    socket.send(`40/other,{"token":"${good}"}`);
    await until('the socket', () => packets.some((packet) => packet.startsWith('40/other')));

    expect(packets.filter((packet) => packet.startsWith('40{') || packet.startsWith('42['))).toHaveLength(0);
    expect(trial.counts()).toEqual({ watched: 1, waiting: 0 });
    socket.terminate();
    await trial.empty();
  });

  it('a socket that a middleware of the application refuses after the check leaves nothing behind [P03]', async () => {
    await trial.start();
    server().use((_socket, next) => next(new Error('not you')));
    const token = trial.service.signInAs({});
    const { socket, packets } = await rawClient();
    for (let index = 1; index <= 5; index += 1) {
      socket.send(`40{"token":"${token}"}`);
      await until('the refusal', () => packets.filter((packet) => packet.startsWith('44')).length === index);
      expect(trial.counts().watched).toBeLessThanOrEqual(1);
    }
    socket.terminate();
    await trial.empty();
    expect(trial.feed.connected).toEqual([]);
  });

  async function connected(token: string): Promise<{ socket: Socket; messages: string[] }> {
    const socket = io(trial.url, {
      auth: { token },
      forceNew: true,
      reconnectionDelay: 10,
      transports: ['websocket'],
    });
    const messages: string[] = [];
    socket.on('private', (message: string) => messages.push(message));
    await new Promise((resolve) => socket.once('connect', () => resolve(undefined)));
    return { socket, messages };
  }

  /**
   * Loses the connection of a client, whose socket is in a room of its own and gets a message there
   * meanwhile.
   */
  async function recovering(
    token: string,
    nextToken: string,
  ): Promise<{ socket: Socket; messages: string[]; error?: unknown }> {
    const client = await connected(token);
    await until('the socket', () => trial.feed.clients.length === 1);
    const [onServer] = trial.feed.clients as unknown as {
      join(room: string): void;
      conn: { close(): void };
    }[];
    onServer?.join('room-of-ann');
    const room = (): Namespace => (server() as unknown as { to(name: string): Namespace }).to('room-of-ann');
    room().emit('private', 'first');
    await until('the first message', () => client.messages.length === 1);
    client.socket.auth = { token: nextToken };
    const back = new Promise((resolve) =>
      client.socket.once('connect', () => resolve(undefined)).once('connect_error', resolve),
    );
    onServer?.conn.close();
    room().emit('private', 'missed');
    return { ...client, error: await back };
  }

  it('a recovered connection is checked again, and gets the messages that it missed [P03]', async () => {
    await trial.start({}, [RecoveringGateway]);
    const token = trial.service.signInAs({});
    const { socket, messages } = await recovering(token, token);

    expect(socket.recovered).toBe(true);
    await until('the missed message', () => messages.includes('missed'));
    expect(trial.service.callsTo('user_details')).toBe(2);
    expect(trial.feed.connected).toEqual(['ann', 'ann']);
    socket.disconnect();
  });

  it('a connection is not recovered with a refused token, and restarts with that of another session [P03]', async () => {
    await trial.start({}, [RecoveringGateway]);
    const refused = await recovering(trial.service.signInAs({}), 'junk');
    expect(refused.error).toMatchObject({ data: { statusCode: 401 } });
    expect(refused.messages).toEqual(['first']);
    refused.socket.disconnect();
    trial.feed.clients.length = 0;

    const other = await recovering(trial.service.signInAs({}), trial.service.signInAs({ username: 'bob' }));
    expect(other.error).toBeUndefined();
    (server() as unknown as { to(name: string): Namespace }).to('room-of-ann').emit('private', 'later');
    trial.feed.broadcast();
    await until('the socket', () => trial.feed.connected.includes('bob'));
    expect(other.messages).toEqual(['first']);
    other.socket.disconnect();
  });

  it('an open socket that no protected server let in is disconnected by guard [P03]', async () => {
    const { app } = await trial.start({}, [FeedGateway]);
    const sent: unknown[] = [];
    const stranger = {
      handshake: { headers: {} },
      connected: true,
      emit: (event: string) => sent.push(event),
      disconnect: () => sent.push('disconnected'),
      once: () => undefined,
    };

    expect(await app.get(SessionSockets).watch(stranger)).toBeUndefined();
    expect(sent).toEqual(['exception', 'disconnected']);
  });
});
