import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Connections, type ConnectionSettings } from './connections.js';
import { Deadline } from './deadline.js';
import { type NoReply, type Reply, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import type { ServiceRequest } from './service-request.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** Starts a server with the given request listener. Returns its address and the requests that it received. */
async function serving(answer: RequestListener = (_request, response) => void response.end()) {
  const seen: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, origin: `http://127.0.0.1:${port}`, seen, connections: () => connections };
}

function connectionsTo(origin: string, settings: Partial<ConnectionSettings> = {}): Connections {
  const limits = { maxConnections: 1, connectTimeoutMs: 5_000, maxResponseBytes: 100, proxy: undefined };
  const connections = new Connections({ origin, ...limits, ...settings });
  open.push(() => connections.close());
  return connections;
}

function requestTo(origin: string, request: Partial<ServiceRequest> = {}): ServiceRequest {
  const deadline = new Deadline(60_000);
  open.push(() => deadline.clear());
  return {
    method: 'GET',
    origin,
    path: '/',
    headers: [],
    body: null,
    deadline,
    freshConnection: false,
    ...request,
  };
}

const statusOf = (answer: Reply | NoReply): unknown => ('noReply' in answer ? answer : answer.status);

describe('a request', () => {
  it('is sent with its body', async () => {
    const bodies: unknown[] = [];
    const { origin } = await serving((request, response) => {
      void once(request, 'data').then(([body]) => bodies.push(String(body)));
      request.on('end', () => response.end());
    });
    expect(
      statusOf(await connectionsTo(origin).exchange(requestTo(origin, { method: 'POST', body: 'text' }))),
    ).toBe(200);
    expect(bodies).toEqual(['text']);
  });

  it('waits for the head and the body of its reply until its deadline', async () => {
    const { origin } = await serving((request, response) => {
      if (request.url === '/slow-body') response.flushHeaders();
      setTimeout(() => response.end('late'), 2_000);
    });
    const connections = connectionsTo(origin, { maxConnections: 2 });
    const replies = ['/slow-head', '/slow-body'].map((path) =>
      connections.exchange(requestTo(origin, { path })),
    );
    expect(await Promise.all(replies)).toMatchObject(
      Array(2).fill({ status: 200, body: Buffer.from('late') }),
    );
  });

  it('is aborted at its deadline, and its connection is closed', async () => {
    const { origin, server } = await serving(() => undefined);
    const request = requestTo(origin);
    const answer = connectionsTo(origin).exchange(request);
    const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
    const closed = once(socket, 'close');
    request.deadline.end('timeout');
    expect(await answer).toEqual({ noReply: 'timeout' });
    await closed;
  });

  it.each([true, false])(
    'is not sent if its deadline has ended (on a fresh connection: %p)',
    async (freshConnection) => {
      const { origin, seen, connections: connectionsMade } = await serving();
      const connections = connectionsTo(origin);
      const request = requestTo(origin, { freshConnection });
      request.deadline.end('aborted');
      expect(await connections.exchange(request)).toEqual({ noReply: 'timeout' });
      expect(statusOf(await connections.exchange(requestTo(origin)))).toBe(200);
      expect([seen.length, connectionsMade()]).toEqual([1, 1]);
    },
  );

  it('that cannot be sent resolves with unreachable', async () => {
    const { origin } = await serving();
    expect(
      await connectionsTo(origin).exchange(requestTo('ftp://127.0.0.1', { freshConnection: true })),
    ).toEqual({
      noReply: 'unreachable',
    });
  });
});

describe('a connection that ends', () => {
  it.each([
    ['is reset', 'resetAndDestroy'],
    ['is closed', 'destroy'],
  ] as const)('because it %s is stale if it was reused, and otherwise unreachable', async (_name, end) => {
    let ending = false;
    const { origin } = await serving((request, response) =>
      ending ? request.socket[end]() : response.end(),
    );
    const connections = connectionsTo(origin);
    expect(statusOf(await connections.exchange(requestTo(origin)))).toBe(200);
    ending = true;
    expect(await connections.exchange(requestTo(origin))).toEqual(STALE_CONNECTION);
    expect(await connections.exchange(requestTo(origin))).toEqual(UNREACHABLE);
  });

  it('because all are closed, ends its calls, to other origins too', async () => {
    const [service, other] = [await serving(() => undefined), await serving(() => undefined)];
    const connections = connectionsTo(service.origin);
    const answers = [service, other].map(({ origin }) => connections.exchange(requestTo(origin)));
    await Promise.all([service, other].map(({ server }) => once(server, 'request')));
    await connections.close();
    expect(await Promise.all(answers)).toEqual([UNREACHABLE, UNREACHABLE]);
  });
});

describe.each(['to the service', 'to another origin', 'through a proxy'])('requests %s', (way) => {
  it('share maxConnections connections one at a time, and a fresh connection is closed after its request', async () => {
    const target = await serving((_request, response) => setImmediate(() => response.end()));
    const other = await serving();
    const proxy =
      way === 'through a proxy' ? { protocol: 'http:', host: '127.0.0.1', port: target.port } : undefined;
    const connections = connectionsTo(way === 'to the service' ? target.origin : other.origin, { proxy });
    const origin = proxy ? 'http://service.invalid' : target.origin;
    const send = async (freshConnection: boolean): Promise<unknown> =>
      statusOf(await connections.exchange(requestTo(origin, { freshConnection })));
    expect(await Promise.all([send(false), send(false), send(false)])).toEqual([200, 200, 200]);
    expect(await send(false)).toBe(200);
    expect([target.connections(), target.seen.length]).toEqual([1, 4]);
    expect(await send(true)).toBe(200);
    expect([target.connections(), target.seen.at(-1)?.headers.connection, other.seen.length]).toEqual([
      2,
      'close',
      0,
    ]);
  });
});

describe('one connection', () => {
  it('carries one request at a time, until its reply is complete', async () => {
    const { origin, server, seen } = await serving((_request, response) => {
      response.flushHeaders();
    });
    const connections = connectionsTo(origin);
    const requests = [requestTo(origin), requestTo(origin)];
    const answers = requests.map((request) => connections.exchange(request));
    await once(server, 'request');
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(seen).toHaveLength(1);
    for (const { deadline } of requests) deadline.end('timeout');
    await Promise.all(answers);
  });
});
