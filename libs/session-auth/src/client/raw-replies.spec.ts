import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Deadline } from './deadline.js';
import { Connections } from './connections.js';
import { UNREACHABLE } from './reply.js';
import type { ServiceRequest } from './service-request.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** Starts a server that answers what it receives with bytes. */
async function answering(bytes: string) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.on('data', () => bytes !== '' && socket.write(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function requestTo(origin: string, freshConnection: boolean): ServiceRequest {
  const deadline = new Deadline(60_000);
  open.push(() => deadline.clear());
  return { method: 'GET', origin, path: '/', headers: [], body: null, deadline, freshConnection };
}

function connectionsTo(origin: string, proxyPort?: number): Connections {
  const proxy = proxyPort === undefined ? undefined : { host: '127.0.0.1', port: proxyPort };
  const connections = new Connections({
    origin,
    maxConnections: 1,
    connectTimeoutMs: 5_000,
    maxResponseBytes: 100,
    proxy,
  });
  open.push(() => connections.close());
  return connections;
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe.each([
  ['to the service', false],
  ['to the service', true],
  ['to another origin', false],
  ['through a proxy', false],
  ['through a proxy', true],
])('a request %s (on a fresh connection: %p)', (way, freshConnection) => {
  const exchange = async (bytes: string) => {
    const { port } = await answering(bytes);
    const origin = way === 'through a proxy' ? 'http://service.invalid' : `http://127.0.0.1:${port}`;
    const connections =
      way === 'through a proxy'
        ? connectionsTo(origin, port)
        : connectionsTo(way === 'to the service' ? origin : 'http://other.invalid');
    return connections.exchange(requestTo(origin, freshConnection));
  };

  it('has the reply after 100 Continue', async () => {
    expect(await exchange(`HTTP/1.1 100 Continue\r\n\r\n${OK}`)).toMatchObject({
      status: 200,
      body: Buffer.from('ok'),
    });
  });

  it.each([
    ['the headers of its reply are too long', OK.replace('\r\n\r\n', `\r\na: ${'b'.repeat(17_000)}\r\n\r\n`)],
    ['its reply is not HTTP', 'SSH-2.0-OpenSSH\r\n'],
  ])('is unreachable, and not stale, because %s', async (_name, bytes) => {
    expect(await exchange(bytes)).toEqual(UNREACHABLE);
  });
});

describe('a fresh connection', () => {
  it.each(['to the service', 'through a proxy'])(
    '%s is closed at the deadline of its call, even while it is connecting',
    async (way) => {
      const { server, port } = await answering('');
      const request = requestTo(`https://127.0.0.1:${port}`, true);
      const answer = connectionsTo(request.origin, way === 'through a proxy' ? port : undefined).exchange(
        request,
      );
      const [socket] = (await once(server, 'connection')) as [Socket];
      const closed = once(socket, 'close');
      request.deadline.end('timeout');
      expect(await answer).toEqual({ noReply: 'timeout' });
      await closed;
    },
  );
});
