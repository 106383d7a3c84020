import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Connections } from './connections.js';
import { type Answer, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo } from '../../../../test/support/service-requests.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HALF_A_HEAD = 'HTTP/1.1 200 O';
const INTERIM = 'HTTP/1.1 103 Early Hints\r\n\r\n';

type Ending = (socket: Socket, bytes: string) => void;

/**
 * Starts a server that answers the requests of each connection in turn, and ends it with the last answer.
 * Returns its port.
 */
async function answering(answers: readonly string[], end: Ending): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    let requests = 0;
    socket.on('data', () => {
      requests += 1;
      const answer = answers[requests - 1] ?? '';
      if (requests < answers.length) socket.write(answer);
      else end(socket, answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends a request for each answer. Resolves with the replies. */
async function repliesOf(way: string, answers: readonly string[], end: Ending): Promise<Answer[]> {
  const port = await answering(answers, end);
  const origin = way === 'through a proxy' ? 'http://service.invalid' : `http://127.0.0.1:${port}`;
  const proxy = way === 'through a proxy' ? { host: '127.0.0.1', port } : undefined;
  const limits = { maxConnections: 1, maxResponseBytes: 100 };
  const connections = new Connections({ proxy, ...limits });
  closeLater(() => connections.close());
  const replies: Answer[] = [];
  while (replies.length < answers.length) {
    replies.push(await connections.exchange(requestTo(origin)));
  }
  return replies;
}

describe.each(['to the service', 'through a proxy'])('a connection %s', (way) => {
  const closing: Ending = (socket, bytes) => socket.end(bytes);
  const resetting: Ending = (socket, bytes) =>
    bytes === '' ? socket.resetAndDestroy() : socket.write(bytes, () => socket.destroy());
  const endings: [name: string, end: Ending][] = [
    ['closed', closing],
    ['destroyed or reset', resetting],
  ];

  it.each(endings)(
    'is stale if it has carried replies, and is %s before the first byte of the next',
    async (_name, end) => {
      const [first, second, third] = await repliesOf(way, [OK, OK, ''], end);
      expect([first, second]).toMatchObject([{ status: 200 }, { status: 200 }]);
      expect(third).toEqual(STALE_CONNECTION);
    },
  );

  it.each(endings)(
    'is unreachable, and not stale, if it is %s before its first reply',
    async (_name, end) => {
      expect(await repliesOf(way, [''], end)).toEqual([UNREACHABLE]);
    },
  );

  it.each([
    ['head of its first reply', [HALF_A_HEAD]],
    ['head of a later reply', [OK, HALF_A_HEAD]],
    ['interim replies of a later reply', [OK, INTERIM]],
    ['body of a later reply', [OK, OK.slice(0, -1)]],
  ])('is unreachable, and not stale, if it is closed in the middle of the %s', async (_name, answers) => {
    expect((await repliesOf(way, answers, closing)).at(-1)).toEqual(UNREACHABLE);
  });
});
