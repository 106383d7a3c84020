import { once } from 'node:events';
import { type IncomingMessage, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import type { ConnectionSettings } from './connection.js';
import { Connections } from './connections.js';
import { type Answer, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

afterEach(() => void jest.restoreAllMocks());

function connectionsWith(settings: Partial<ConnectionSettings> = {}): Connections {
  const limits = { maxConnections: 1, maxResponseBytes: 100, proxy: undefined };
  const connections = new Connections({ ...limits, ...settings });
  closeLater(() => connections.close());
  return connections;
}

const statusOf = (answer: Answer): unknown => ('status' in answer ? answer.status : answer);

describe('a request', () => {
  it('that cannot be sent resolves with unreachable', async () => {
    const request = requestTo('ftp://127.0.0.1', { freshConnection: true });
    expect(await connectionsWith().exchange(request)).toEqual(unavailable('unreachable'));
  });
});

describe('a connection that ends', () => {
  it('because all are closed, ends its calls, to other origins too', async () => {
    const [service, other] = [await serve(() => undefined), await serve(() => undefined)];
    const connections = connectionsWith();
    const answers = [service, other].map(({ origin }) => connections.exchange(requestTo(origin)));
    await Promise.all([service, other].map(({ server }) => once(server, 'request')));
    await connections.close();
    expect(await Promise.all(answers)).toEqual([UNREACHABLE, UNREACHABLE]);
  });
});

describe.each(['to the service', 'through a proxy'])('requests %s', (way) => {
  it('share maxConnections connections one at a time, and any other is closed after its request', async () => {
    const target = await serve((_request, response) => setImmediate(() => response.end()));
    const proxy =
      way === 'through a proxy' ? { protocol: 'http:', host: '127.0.0.1', port: target.port } : undefined;
    const connections = connectionsWith({ proxy });
    const origin = proxy ? 'http://service.invalid' : target.origin;
    const send = async (freshConnection: boolean): Promise<unknown> =>
      statusOf(await connections.exchange(requestTo(origin, { freshConnection })));
    expect(await Promise.all([send(false), send(false), send(false)])).toEqual([200, 200, 200]);
    expect(await send(false)).toBe(200);
    expect([target.connections(), target.seen.length]).toEqual([3, 4]);
    expect(await send(true)).toBe(200);
    expect([target.connections(), target.seen.at(-1)?.headers.connection]).toEqual([4, 'close']);
  });
});

describe('one connection', () => {
  it.each(['keep-alive', 'close'])(
    'carries no other request after a reply that is not read, sent with Connection: %s',
    async (connection) => {
      const { origin, connections: opened } = await serve((request, response) => {
        const coding = request.url === '/coded' && { 'content-encoding': 'gzip' };
        response.writeHead(200, { connection, 'content-length': 0, ...coding }).end();
      });
      const connections = connectionsWith();
      const statuses = [];
      for (const path of ['/', '/coded', '/'])
        statuses.push(statusOf(await connections.exchange(requestTo(origin, { path }))));
      expect([statuses, opened()]).toEqual([[200, 200, 200], connection === 'close' ? 3 : 2]);
    },
  );

  it('carries no other request until its reply is complete', async () => {
    const {
      origin,
      server,
      seen,
      connections: made,
    } = await serve((_request, response) => {
      response.flushHeaders();
    });
    const connections = connectionsWith();
    const requests = [requestTo(origin), requestTo(origin)];
    const answers = requests.map((request) => connections.exchange(request));
    while (seen.length < 2) await once(server, 'request');
    expect(made()).toBe(2);
    for (const { deadline } of requests) deadline.end('timeout');
    await Promise.all(answers);
  });

  it('is not closed at the deadline of a request that it has completed', async () => {
    const { origin, connections: made } = await serve();
    const connections = connectionsWith();
    const [first, second] = [requestTo(origin), requestTo(origin)];
    expect(statusOf(await connections.exchange(first))).toBe(200);
    const answer = connections.exchange(second);
    first.deadline.end('timeout');
    expect([statusOf(await answer), made()]).toEqual([200, 1]);
  });
});

describe('several connections', () => {
  /** Makes `count` calls at once, and returns the ports from which they came. */
  const portsOf = async (
    { origin, seen }: Awaited<ReturnType<typeof serve>>,
    to: Connections,
    count: number,
  ) => {
    const before = seen.length;
    const answers = Array.from({ length: count }, () => to.exchange(requestTo(origin)));
    expect((await Promise.all(answers)).map(statusOf)).toEqual(Array(count).fill(200));
    return seen.slice(before).map(({ socket }) => socket.remotePort);
  };
  const answerLater: RequestListener = (_request, response) => void setTimeout(() => response.end(), 20);

  it('are used from the last one on, so that the others can close', async () => {
    const service = await serve(answerLater);
    const connections = connectionsWith({ maxConnections: 3 });
    const peak = await portsOf(service, connections, 3);
    const calm = new Set<unknown>();
    for (let call = 0; call < 5; call += 1)
      for (const port of await portsOf(service, connections, 1)) calm.add(port);
    expect([new Set(peak).size, calm.size, service.connections()]).toEqual([3, 1, 3]);
  });

  it('are kept as many as allowed, also after those of a peak were closed', async () => {
    const service = await serve(answerLater);
    const connections = connectionsWith({ maxConnections: 3 });
    await portsOf(service, connections, 9);
    await portsOf(service, connections, 9);
    expect(service.connections()).toBe(15);
    service.server.closeIdleConnections();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    await portsOf(service, connections, 9);
    await portsOf(service, connections, 9);
    expect(service.connections()).toBe(30);
  });

  it('lead to the origin of each request', async () => {
    const [service, other] = [await serve(), await serve()];
    const connections = connectionsWith();
    for (const one of [service, other, service, other]) await portsOf(one, connections, 1);
    expect([service, other].map((one) => [one.seen.length, one.connections()])).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });
});

describe('a renewal', () => {
  it('replaces the connections at most once a second', async () => {
    const { origin, connections: made } = await serve();
    const connections = connectionsWith();
    const madeAt = async (nowMs: number): Promise<number> => {
      const clock = jest.spyOn(performance, 'now').mockReturnValue(nowMs);
      connections.renew();
      clock.mockRestore();
      await connections.exchange(requestTo(origin));
      return made();
    };
    const counts: number[] = [];
    for (const nowMs of [0, 0, 999, 1_000, 1_999, 2_000]) counts.push(await madeAt(nowMs));
    expect(counts).toEqual([1, 1, 1, 2, 2, 3]);
  });

  it('closes the former ones, when their calls have completed', async () => {
    const pending: (() => void)[] = [];
    const { origin, server } = await serve((_request, response) => void pending.push(() => response.end()));
    const connections = connectionsWith();
    const answer = connections.exchange(requestTo(origin));
    const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
    connections.renew();
    const closed = once(socket, 'close');
    pending[0]?.();
    expect(statusOf(await answer)).toBe(200);
    await closed;
  });
});
