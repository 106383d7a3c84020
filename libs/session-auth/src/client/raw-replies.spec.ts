import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import { Connections } from './connections.js';
import { UNREACHABLE } from './reply.js';
import { closeLater, requestTo } from '../../../../test/support/service-requests.js';

/** Starts a server that answers what it receives with pieces of bytes. */
async function answering(...pieces: readonly string[]) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.setNoDelay().on('error', () => undefined));
    socket.on('data', () => void writeTo(socket, pieces));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

async function writeTo(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
}

function connectionsOver(proxyPort?: number): Connections {
  const proxy = proxyPort === undefined ? undefined : { host: '127.0.0.1', port: proxyPort };
  const limits = { maxConnections: 1, maxResponseBytes: 10 };
  const connections = new Connections({ ...limits, proxy });
  closeLater(() => connections.close());
  return connections;
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS =
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\n';

describe.each([
  ['to the service', false],
  ['to the service', true],
  ['through a proxy', false],
  ['through a proxy', true],
])('a request %s (on a fresh connection: %p)', (way, freshConnection) => {
  const exchange = async (...pieces: readonly string[]) => {
    const { port, sockets } = await answering(...pieces);
    const origin = way === 'through a proxy' ? 'http://service.invalid' : `http://127.0.0.1:${port}`;
    const connections = connectionsOver(way === 'through a proxy' ? port : undefined);
    return { reply: await connections.exchange(requestTo(origin, { freshConnection })), sockets };
  };

  it.each<[string, readonly string[]]>([
    ['one after another', [CONTINUE, OK]],
    ['at once', [CONTINUE + HINTS + CONTINUE + CONTINUE + OK]],
    ['byte by byte', Array.from(CONTINUE + HINTS + CONTINUE + OK)],
  ])('has the reply after interim replies, which arrive %s', async (_name, pieces) => {
    const { reply } = await exchange(...pieces);
    expect(reply).toMatchObject({ status: 200, body: Buffer.from('ok') });
    expect(reply).not.toHaveProperty(['headers', 'link']);
  });

  it('has the reply after 100 interim replies, and is unreachable after more', async () => {
    expect((await exchange(HINTS.repeat(100) + OK)).reply).toMatchObject({ status: 200 });
    const { reply, sockets } = await exchange(HINTS.repeat(101) + OK);
    expect(reply).toEqual(UNREACHABLE);
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
  });

  it('has the whole body, and the headers', async () => {
    const { reply } = await exchange(
      'HTTP/1.1 401 No\r\na: b\r\ncontent-le',
      'ngth: 10\r\n\r\nfour',
      ' and x',
    );
    const headers = { a: 'b', 'content-length': '10' };
    expect(reply).toEqual({ status: 401, headers, body: Buffer.from('four and x') });
  });

  it('has an empty body if the reply has none', async () => {
    const { reply } = await exchange('HTTP/1.1 204 No Content\r\n\r\n');
    expect(reply).toEqual({ status: 204, headers: {}, body: Buffer.alloc(0) });
  });

  it.each([
    ['is longer than the limit', 'transfer-encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\n901\r\n0\r\n\r\n'],
    ['declares a length above the limit', 'content-length: 11\r\n\r\n'],
    ['has an encoding that was not requested', 'content-encoding: gzip\r\n\r\n'],
  ])('has no body, and closes its connection, if the body %s', async (_name, rest) => {
    const { reply, sockets } = await exchange(`HTTP/1.1 403 No\r\n${rest}`);
    expect(reply).toMatchObject({ status: 403, headers: {}, body: undefined });
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
  });

  it.each([
    ['the headers of its reply are too long', OK.replace('\r\n\r\n', `\r\na: ${'b'.repeat(17_000)}\r\n\r\n`)],
    ['its reply is not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['the service switches protocols', `${SWITCH}Connection: Upgrade\r\nUpgrade: other\r\n\r\n${OK}`],
  ])('is unreachable, and not stale, because %s', async (_name, bytes) => {
    expect((await exchange(bytes)).reply).toEqual(UNREACHABLE);
  });

  it('has no reply after a switch of protocols that names none', async () => {
    const { reply } = await exchange(`${SWITCH}\r\n${OK}`);
    expect(reply).toEqual({ status: 101, headers: {}, body: undefined });
  });
});

describe('a connection', () => {
  it.each([
    ['to the service', false],
    ['to the service', true],
    ['through a proxy', false],
    ['through a proxy', true],
  ])(
    '%s (fresh: %p) is closed at the deadline of its call, even while it is connecting',
    async (way, fresh) => {
      const { server, port } = await answering();
      const connections = connectionsOver(way === 'through a proxy' ? port : undefined);
      for (let call = 0; call < 2; call += 1) {
        const request = requestTo(`https://127.0.0.1:${port}`, { freshConnection: fresh });
        const answer = connections.exchange(request);
        const [socket] = (await once(server, 'connection')) as [Socket];
        const closed = once(socket, 'close');
        request.deadline.end('timeout');
        expect(await answer).toEqual(unavailable('timeout'));
        await closed;
      }
    },
  );
});
