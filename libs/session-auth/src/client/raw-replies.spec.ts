import { once } from 'node:events';
import { Agent } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import { exchangeOverAgent } from './agent-requests.js';
import type { ServiceRequest } from './connection.js';
import { Connections } from './connections.js';
import { type Answer, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo } from '../../../../test/support/service-requests.js';

/** Starts a server that answers the requests of each connection with bytes; `turn` counts them from 0. */
async function answering(answer: (socket: Socket, turn: number) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    let turn = 0;
    sockets.push(socket.setNoDelay().on('error', () => undefined));
    socket.on('data', () => void answer(socket, turn++));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

async function write(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
}

const POOLED = ['to the service', 'through a proxy'] as const;
const WAYS = [...POOLED, 'over an agent'] as const;
type Way = (typeof WAYS)[number];
const withEach = (ways: readonly Way[]): [Way, boolean][] =>
  ways.flatMap((way) => [false, true].map((fresh): [Way, boolean] => [way, fresh]));

/** Returns what sends requests to a server that way, over one connection. */
function sender(way: Way, port: number): (request?: Partial<ServiceRequest>) => Promise<Answer> {
  const limits = { maxResponseBytes: 10 };
  const origin = way === 'through a proxy' ? 'http://service.invalid' : `http://127.0.0.1:${port}`;
  if (way === 'over an agent') {
    const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
    closeLater(() => httpAgent.destroy());
    return (request) => exchangeOverAgent(requestTo(origin, request), { httpAgent }, limits);
  }
  const proxy = way === 'through a proxy' ? { host: '127.0.0.1', port } : undefined;
  const connections = new Connections({ ...limits, maxConnections: 1, proxy });
  closeLater(() => connections.close());
  return (request) => connections.exchange(requestTo(origin, request));
}

/** Sends a request whose reply has these pieces. */
async function exchange(way: Way, freshConnection: boolean, ...pieces: readonly string[]) {
  const { port, sockets } = await answering((socket) => write(socket, pieces));
  return { reply: await sender(way, port)({ freshConnection }), sockets };
}

async function closed(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS =
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\n';
const UPGRADE = `${SWITCH}Connection: Upgrade\r\nUpgrade: other\r\n\r\n${OK}`;

describe.each(withEach(WAYS))('a request %s (on a fresh connection: %p)', (way, fresh) => {
  it.each<[string, readonly string[]]>([
    ['one after another', [CONTINUE, OK]],
    ['at once', [CONTINUE + HINTS + CONTINUE + CONTINUE + OK]],
    ['byte by byte', Array.from(CONTINUE + HINTS + CONTINUE + OK)],
  ])('has the reply after interim replies, which arrive %s', async (_name, pieces) => {
    const { reply } = await exchange(way, fresh, ...pieces);
    expect(reply).toMatchObject({ status: 200, body: Buffer.from('ok') });
    expect(reply).not.toHaveProperty(['headers', 'link']);
  });

  it('has the whole body, and the headers', async () => {
    const pieces = ['HTTP/1.1 401 No\r\na: b\r\ncontent-le', 'ngth: 10\r\n\r\nfour', ' and x'];
    const { reply } = await exchange(way, fresh, ...pieces);
    const headers = { a: 'b', 'content-length': '10' };
    expect(reply).toEqual({ status: 401, headers, body: Buffer.from('four and x') });
  });

  it('has an empty body if the reply has none', async () => {
    const { reply } = await exchange(way, fresh, 'HTTP/1.1 204 No Content\r\n\r\n');
    expect(reply).toEqual({ status: 204, headers: {}, body: Buffer.alloc(0) });
  });

  it.each([
    ['is longer than the limit', 'transfer-encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\n901\r\n0\r\n\r\n'],
    ['declares a length above the limit', 'content-length: 11\r\n\r\n'],
    ['has an encoding that was not requested', 'content-encoding: gzip\r\n\r\n'],
  ])('has no body, and closes its connection, if the body %s', async (_name, rest) => {
    const { reply, sockets } = await exchange(way, fresh, `HTTP/1.1 403 No\r\n${rest}`);
    expect(reply).toMatchObject({ status: 403, headers: {}, body: undefined });
    await closed(sockets);
  });

  it.each([
    ['the headers of its reply are too long', OK.replace('\r\n\r\n', `\r\na: ${'b'.repeat(17_000)}\r\n\r\n`)],
    ['its reply is not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['its reply has a length and chunks', OK.replace('\r\n\r\n', '\r\ntransfer-encoding: chunked\r\n\r\n')],
    ['its reply has two lengths', OK.replace('\r\n\r\n', '\r\ncontent-length: 2\r\n\r\n')],
    ['the service switches protocols', UPGRADE],
  ])('is unreachable, and not stale, because %s [D05] [D08]', async (_name, bytes) => {
    expect((await exchange(way, fresh, bytes)).reply).toEqual(UNREACHABLE);
  });

  it.each([
    ['head', ''],
    ['body', OK.slice(0, -1)],
  ])('ends at its deadline, with its connection, while it waits for the %s', async (_part, bytes) => {
    const { deadline } = requestTo('');
    const { port, sockets } = await answering(async (socket) => {
      await write(socket, [bytes, '', '']);
      deadline.end('timeout');
    });
    expect(await sender(way, port)({ deadline, freshConnection: fresh })).toEqual(unavailable('timeout'));
    await closed(sockets);
  });
});

it.each<[Way, boolean]>([...withEach(POOLED), ['over an agent', false]])(
  'a request %s is not sent if its deadline has ended (on a fresh connection: %p)',
  async (way, freshConnection) => {
    const { port, sockets } = await answering((socket) => socket.write(OK));
    const send = sender(way, port);
    const { deadline } = requestTo('');
    deadline.end('shutting_down');
    expect(await send({ deadline, freshConnection })).toEqual(unavailable('shutting_down'));
    expect(await send()).toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(1);
  },
);

describe.each(withEach(POOLED))('a pooled request %s (on a fresh connection: %p)', (way, fresh) => {
  it('has the reply after 100 interim replies, and is unreachable after more', async () => {
    expect((await exchange(way, fresh, HINTS.repeat(100) + OK)).reply).toMatchObject({ status: 200 });
    const { reply, sockets } = await exchange(way, fresh, HINTS.repeat(101) + OK);
    expect(reply).toEqual(UNREACHABLE);
    await closed(sockets);
  });

  it('has no reply after a switch of protocols that names none', async () => {
    const { reply } = await exchange(way, fresh, `${SWITCH}\r\n${OK}`);
    expect(reply).toEqual({ status: 101, headers: {}, body: undefined });
  });

  it('ends at its deadline, with its connection, even while that is connecting', async () => {
    const { server, port } = await answering(() => undefined);
    const send = sender(way, port);
    for (let call = 0; call < 2; call += 1) {
      const request = requestTo(`https://127.0.0.1:${port}`, { freshConnection: fresh });
      const answer = send(request);
      const [socket] = (await once(server, 'connection')) as [Socket];
      request.deadline.end('timeout');
      expect(await answer).toEqual(unavailable('timeout'));
      await closed([socket]);
    }
  });
});

type Ending = (socket: Socket, bytes: string) => unknown;
const closing: Ending = (socket, bytes) => socket.end(bytes);
const resetting: Ending = (socket, bytes) =>
  bytes === '' ? socket.resetAndDestroy() : socket.write(bytes, () => socket.destroy());
const ENDINGS: [name: string, end: Ending][] = [
  ['closed', closing],
  ['destroyed or reset', resetting],
];

/** Sends a request for each answer; the connection ends with the last. Resolves with the replies. */
async function repliesOf(way: Way, answers: readonly string[], end: Ending): Promise<Answer[]> {
  const { port } = await answering((socket, turn) => {
    const answer = answers[turn] ?? '';
    return turn + 1 < answers.length ? socket.write(answer) : end(socket, answer);
  });
  const send = sender(way, port);
  const replies: Answer[] = [];
  while (replies.length < answers.length) replies.push(await send());
  return replies;
}

describe.each(WAYS)('a connection %s', (way) => {
  it('has a reply whose body ends with it', async () => {
    const [answer] = await repliesOf(way, ['HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok'], closing);
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok') });
  });

  it.each(ENDINGS)(
    'is stale if it has carried replies, and is %s before the first byte of the next',
    async (_name, end) => {
      const [first, second, third] = await repliesOf(way, [OK, OK, ''], end);
      expect([first, second]).toMatchObject([{ status: 200 }, { status: 200 }]);
      expect(third).toEqual(STALE_CONNECTION);
    },
  );

  it.each(ENDINGS)(
    'is unreachable, and not stale, if it is %s before its first reply [D04]',
    async (_name, end) => {
      expect(await repliesOf(way, [''], end)).toEqual([UNREACHABLE]);
    },
  );

  it.each([
    ['head of its first reply', [OK.slice(0, 14)]],
    ['body of a later reply', [OK, OK.slice(0, -1)]],
    ['switch of protocols of a later reply', [OK, UPGRADE]],
  ])('is unreachable, and not stale, if it is closed in the middle of the %s', async (_name, answers) => {
    expect((await repliesOf(way, answers, closing)).at(-1)).toEqual(UNREACHABLE);
  });
});

describe.each(POOLED)('a pooled connection %s', (way) => {
  it('has the reply after 100 interim replies to each of its requests', async () => {
    const answers = Array<string>(3).fill(HINTS.repeat(100) + OK);
    const statuses = (await repliesOf(way, answers, closing)).map(
      (reply) => 'status' in reply && reply.status,
    );
    expect(statuses).toEqual([200, 200, 200]);
  });

  it.each([
    ['head', OK.slice(0, 14)],
    ['interim replies', HINTS],
  ])(
    'is unreachable, and not stale, if it is closed in the middle of the %s of a later reply',
    async (...row) => {
      expect((await repliesOf(way, [OK, row[1]], closing)).at(-1)).toEqual(UNREACHABLE);
    },
  );
});
