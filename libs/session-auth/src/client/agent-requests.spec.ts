import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import { exchangeOverAgent, type OwnAgents } from './agent-requests.js';
import type { ServiceRequest } from './connections.js';
import { type Answer, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve, startedDeadline } from '../../../../test/support/service-requests.js';

/** Starts a server, and returns what sends requests to it over an agent with one connection. */
async function serving(answer?: RequestListener) {
  const { origin, ...served } = await serve(answer);
  const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
  const failures: string[] = [];
  closeLater(() => httpAgent.destroy());
  const connectionFailed = (code: string): void => void failures.push(code);
  const send = (request: Partial<ServiceRequest> = {}, agents: OwnAgents = { httpAgent }): Promise<Answer> =>
    exchangeOverAgent(requestTo(origin, request), agents, { maxResponseBytes: 10, connectionFailed });
  return { ...served, failures, send };
}

const statusOf = (answer: Answer): unknown => ('status' in answer ? answer.status : answer);

describe('a request over an agent', () => {
  it('has exactly its headers, and its body', async () => {
    const bodies: string[] = [];
    const { seen, send } = await serving((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk))).on('end', () => response.end());
    });
    await send({ method: 'POST', path: '/path?query', headers: { 'X-A': 'a', 'X-b': 'b' }, body: 'text' });
    const { method, url, rawHeaders = [] } = seen[0] ?? {};
    expect([method, url, bodies]).toEqual(['POST', '/path?query', ['text']]);
    expect(rawHeaders.filter((_value, index) => index % 2 === 0).sort()).toEqual([
      'Connection',
      'Content-Length',
      'Host',
      'X-A',
      'X-b',
    ]);
  });

  it('on a fresh connection does not wait for the agent, uses none of its connections, and leaves none', async () => {
    const pending: (() => void)[] = [];
    const { server, seen, connections, send } = await serving(
      (_request, response) => void pending.push(() => response.end()),
    );
    const first = send();
    await once(server, 'request');
    const fresh = send({ freshConnection: true });
    await once(server, 'request');
    for (const answer of pending) answer();
    expect((await Promise.all([first, fresh])).map(statusOf)).toEqual([200, 200]);
    expect([connections(), ...seen.map(({ headers }) => headers.connection)]).toEqual([
      2,
      'keep-alive',
      'close',
    ]);

    const [idle, other] = [send({ freshConnection: true }), once(server, 'request')];
    await other;
    pending.at(-1)?.();
    await idle;
    expect(connections()).toBe(3);
  });

  it.each(['head', 'body'])(
    'ends at its deadline, with its connection, while it waits for the %s of its reply',
    async (part) => {
      const { server, send } = await serving((_request, response) => {
        if (part === 'body') response.writeHead(200).write('a');
      });
      const deadline = startedDeadline();
      const answer = send({ deadline });
      const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
      const closed = once(socket, 'close');
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      deadline.end('timeout');
      expect(await answer).toEqual(unavailable('timeout'));
      await closed;
    },
  );

  it('is not sent if its deadline has ended', async () => {
    const { connections, send } = await serving();
    const deadline = startedDeadline();
    deadline.end('shutting_down');
    expect(await send({ deadline })).toEqual(unavailable('shutting_down'));
    expect(statusOf(await send())).toBe(200);
    expect(connections()).toBe(1);
  });

  it.each(['new', 'reused'])(
    'is unreachable, and not stale, if the service switches protocols on a %s connection',
    async (kind) => {
      let switching = false;
      const { send } = await serving(({ socket }, response) => {
        if (!switching) response.end();
        else
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
      });
      if (kind === 'reused') await send();
      switching = true;
      expect(await send()).toEqual(UNREACHABLE);
    },
  );

  it.each<[string, RequestListener]>([
    ['is reset', ({ socket }) => void socket.resetAndDestroy()],
    ['is closed', ({ socket }) => void socket.destroy()],
  ])('on a connection that %s is stale if it was reused, and otherwise unreachable', async (_name, end) => {
    let ending = false;
    const { send } = await serving((request, response) => (ending ? end(request, response) : response.end()));
    expect(statusOf(await send())).toBe(200);
    ending = true;
    expect(await send()).toEqual(STALE_CONNECTION);
    expect(await send()).toEqual(UNREACHABLE);
  });

  it.each(['ftp://127.0.0.1', 'http://'])('that cannot be sent to %s is unreachable', async (origin) => {
    const { send } = await serving();
    expect(await send({ origin })).toEqual(UNREACHABLE);
  });

  it('with a header that is none is unreachable, and leaves no connection', async () => {
    const { connections, send } = await serving();
    expect(await send({ headers: { 'X A': 'a' } })).toEqual(UNREACHABLE);
    expect(statusOf(await send())).toBe(200);
    expect(connections()).toBe(1);
  });
});

describe('a reply over an agent', () => {
  it('has its status, its headers and its whole body', async () => {
    const { send } = await serving((_request, response) => {
      response.writeHead(401, { 'x-a': 'a' }).write('four');
      setImmediate(() => response.end(' more'));
    });
    expect(await send()).toMatchObject({
      status: 401,
      headers: { 'x-a': 'a' },
      body: Buffer.from('four more'),
    });
  });

  it('without a body has an empty one', async () => {
    const { send } = await serving();
    expect(await send()).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });

  it.each<[string, Record<string, string>, string]>([
    ['exceeds the limit', {}, '12345678901'],
    ['declares a length above the limit', { 'content-length': '11' }, ''],
    ['has an encoding that was not requested', { 'content-encoding': 'gzip' }, 'text'],
  ])('has no body, and closes its connection, if the body %s', async (_name, headers, sent) => {
    const { server, send } = await serving((_request, response) => {
      response.writeHead(403, headers);
      response.flushHeaders();
      if (sent) response.write(sent);
    });
    const answer = send();
    const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
    const closed = once(socket, 'close');
    expect(await answer).toMatchObject({ status: 403, headers, body: undefined });
    await closed;
  });

  it('that is cut off is unreachable, on a reused connection too', async () => {
    let breaking = false;
    const { send } = await serving((_request, response) => {
      if (!breaking) response.end();
      else response.writeHead(200, { 'content-length': '5' }).write('a', () => response.destroy());
    });
    await send();
    breaking = true;
    expect(await send()).toEqual(UNREACHABLE);
  });

  it('with headers that are too long is unreachable', async () => {
    const { send } = await serving(
      (_request, response) => void response.writeHead(200, { 'x-a': 'a'.repeat(17_000) }).end(),
    );
    expect(await send()).toEqual(UNREACHABLE);
  });
});

describe('an agent for one protocol', () => {
  it('connects for it, for a fresh connection too', async () => {
    const httpsAgent = new HttpsAgent();
    const { port, send } = await serving((_request, response) => void response.end('own'));
    httpsAgent.createConnection = () => connect(port, '127.0.0.1');
    const origin = `https://127.0.0.1:${port}`;
    for (const freshConnection of [false, true])
      expect(await send({ origin, freshConnection }, { httpsAgent })).toMatchObject({
        body: Buffer.from('own'),
      });
  });

  it('leaves the other protocol as it is: https, whose failure is reported', async () => {
    const { port, failures, send } = await serving();
    expect(await send({ origin: `https://127.0.0.1:${port}` })).toEqual(UNREACHABLE);
    expect(failures).toEqual([expect.stringMatching(/^ERR_SSL_|^EPROTO$/)]);
  });

  it('leaves the other protocol as it is: http', async () => {
    const { send, connections, seen } = await serving();
    for (const freshConnection of [false, true])
      expect(statusOf(await send({ freshConnection }, { httpsAgent: new HttpsAgent() }))).toBe(200);
    expect([connections(), seen.at(-1)?.headers.connection]).toEqual([2, 'close']);
  });
});
