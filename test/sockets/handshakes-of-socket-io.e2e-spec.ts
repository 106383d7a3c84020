import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { SessionSockets, type SocketClient } from 'nestjs-session-auth/sockets';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import { WebSocket } from 'ws';
import { afterDelay, json } from '../support/scripted-service.js';
import { until } from '../support/until.js';
import { SOCKET_IO } from './peers.js';
import { Feed } from './feed.gateway.js';
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

@WebSocketGateway({ connectionStateRecovery: { skipMiddlewares: false } })
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

  it('a server that recovers connections, which get what they missed before a check, stops the start [P57]', async () => {
    await expect(trial.start({}, [RecoveringGateway])).rejects.toThrow(
      'SessionSockets.protect() does not support connectionStateRecovery',
    );
  });
});
