import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ModulesContainer } from '@nestjs/core';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server } from 'socket.io';
import { WebSocket, WebSocketServer } from 'ws';
import { partsWith } from '../../../../test/support/session-parts.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { Causes } from '../module/events/cause-log.js';
import { SessionSockets } from './session-sockets.js';

const UPGRADE = { headers: { 'x-auth-token': 'good' } };

function registration() {
  const service = {
    isDown: false,
    /** Fails from now on, when every cached session has become stale. */
    goDown: (): void => {
      for (const clock of [performance, Date]) {
        const now = clock.now.bind(clock);
        jest.spyOn(clock, 'now').mockImplementation(() => now() + 2_000);
      }
      service.isDown = true;
    },
  };
  const ask = ({ token }: { token: string }): Promise<Verdict<UserRecord>> =>
    Promise.resolve(
      service.isDown ? unavailable('server_error') : { kind: 'authenticated', user: { username: token } },
    );
  const parts = partsWith(ask, {
    cache: { ttlMs: 1_000, negativeTtlMs: 0 },
    whileOpen: { recheckMs: 60_000, outageGraceMs: 300_000 },
    causes: new Causes(),
  });
  const { verifier, ends: source } = parts;
  return { service, verifier, source, sockets: new SessionSockets(parts, new ModulesContainer()) };
}

/** Returns a server of socket.io, as Nest creates it. */
const socketIoServer = (options?: object): Server =>
  new IoAdapter(createServer()).createIOServer(0, options as never);

afterEach(() => void jest.restoreAllMocks());

describe('the sockets of a server of ws', () => {
  let http: HttpServer;
  let server: WebSocketServer;
  let own: ReturnType<typeof registration>;

  beforeEach(async () => {
    own = registration();
    http = createServer();
    server = new WebSocketServer({ server: http });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    own.source.complete();
    server.close();
    http.close();
  });

  /** Returns the status of the answer to a handshake: 101 if its socket opens. */
  function handshake(token: string): Promise<number | undefined> {
    const { port } = http.address() as AddressInfo;
    const client = new WebSocket(`ws://127.0.0.1:${port}`, { headers: { 'x-auth-token': token } });
    client.on('error', () => undefined);
    return new Promise((resolve) => {
      client.once('open', () => resolve(101));
      client.once('unexpected-response', (request, { statusCode }) => {
        request.destroy();
        resolve(statusCode);
      });
    });
  }

  it('use the options of the last call, which other calls without options keep', async () => {
    await own.verifier.verify({ token: 'good', authIv: undefined });
    own.service.goDown();
    own.sockets.protect(server, { outageGraceMs: 0 });
    own.sockets.protect(server);
    expect([await handshake('good'), server.listenerCount('connection')]).toEqual([503, 1]);
    own.sockets.protect(server, { outageGraceMs: 60_000 });
    expect([await handshake('good'), server.listenerCount('connection')]).toEqual([101, 1]);
    own.sockets.protect(server, {});
    expect(await handshake('good')).toBe(101);
  });

  it('that no gateway opens can be watched, and are watched until the application shuts down', async () => {
    const client = handshake('unchecked');
    const socket = await new Promise<WebSocket>((resolve) => server.once('connection', resolve));
    expect([await client, own.sockets.userOf(socket)]).toEqual([101, undefined]);
    expect(await own.sockets.watch(socket, UPGRADE)).toEqual({ username: 'good' });
    expect([own.sockets.userOf(socket)?.username, own.sockets.countSockets().watched]).toEqual(['good', 1]);
    own.source.complete();
    expect([own.sockets.userOf(socket), own.sockets.countSockets().watched, socket.readyState]).toEqual([
      undefined,
      0,
      WebSocket.OPEN,
    ]);
  });

  it('that are watched have the options of their call', async () => {
    await own.verifier.verify({ token: 'good', authIv: undefined });
    own.service.goDown();
    const client = { readyState: 1, close: () => undefined, emit: () => undefined, once: () => undefined };
    expect(await own.sockets.watch({ ...client }, UPGRADE, { outageGraceMs: 0 })).toBeUndefined();
    expect(await own.sockets.watch({ ...client }, UPGRADE)).toEqual({ username: 'good' });
  });
});

describe('a server of socket.io', () => {
  it('is protected by the server of any namespace, once', () => {
    const { sockets } = registration();
    const server = socketIoServer();
    for (const each of [server.of('/news'), server, server.of('/')]) sockets.protect(each);
    expect(['/', '/news'].map((name) => server.of(name).listenerCount('connect'))).toEqual([1, 1]);
  });
});

describe('a misuse of SessionSockets.protect()', () => {
  it('with an unsupported server stops the start of the application, with the first error', () => {
    const [first, second] = [registration(), registration()];
    const server = socketIoServer();
    first.sockets.protect(server);
    second.sockets.protect({});
    second.sockets.protect(server);
    expect(() => second.sockets.onApplicationBootstrap()).toThrow(InvalidConfigurationError);
    expect(() => second.sockets.onApplicationBootstrap()).toThrow(
      /supports servers of ws and of socket\.io, .* with that server; .* SessionAuthService\.verify\(\) before you accept it\.$/,
    );
  });

  it('with a server that recovers connections, which get what they missed before a check, stops the start [P57]', () => {
    const { sockets } = registration();
    sockets.protect(socketIoServer({ connectionStateRecovery: { skipMiddlewares: false } }));
    expect(() => sockets.onApplicationBootstrap()).toThrow(
      'SessionSockets.protect() does not support connectionStateRecovery',
    );
  });

  it('with an unsupported server throws after the start, each time', () => {
    const { sockets } = registration();
    const server = {};
    sockets.onApplicationBootstrap();
    for (let time = 0; time < 2; time += 1)
      expect(() => sockets.protect(server)).toThrow(InvalidConfigurationError);
  });

  it('for a server of another registration stops the start, and leaves the server to that one', () => {
    const [first, second] = [registration(), registration()];
    const server = socketIoServer();
    for (const { sockets } of [first, second]) sockets.protect(server);
    expect(server.of('/').listenerCount('connect')).toBe(1);
    expect(() => first.sockets.onApplicationBootstrap()).not.toThrow();
    expect(() => second.sockets.onApplicationBootstrap()).toThrow(
      / by two registrations\. .* another port\.$/,
    );
  });
});
