import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import axios, { type AxiosRequestConfig, type AxiosResponse } from 'axios';
import { Deadline } from './deadline.js';
import { agentAdapter } from './agent-adapter.js';
import type { SessionCall } from './pooled-adapter.js';
import { UNREACHABLE } from './reply.js';

const open: (() => unknown)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Starts a server, and a client that sends requests to it over an agent with one connection. */
async function serving(answer: RequestListener = (_request, response) => void response.end()) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
  open.push(
    () => httpAgent.destroy(),
    () => {
      server.close();
      server.closeAllConnections();
    },
  );
  const tlsFailures: string[] = [];
  const client = axios.create({ adapter: agentAdapter(10, (code) => tlsFailures.push(code)), httpAgent });
  const send = (config: AxiosRequestConfig & Partial<SessionCall> = {}): Promise<AxiosResponse<unknown>> =>
    client.request({ url: `http://127.0.0.1:${port}`, ...config });
  return { server, port, seen, connections: () => connections, tlsFailures, send };
}

function startedDeadline(): Deadline {
  const deadline = new Deadline(60_000);
  open.push(() => deadline.clear());
  return deadline;
}

describe('a request over an agent', () => {
  it('does not name its client', async () => {
    const { seen, send } = await serving();
    await send();
    expect(seen[0]?.headers).not.toHaveProperty('user-agent');
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
    expect((await Promise.all([first, fresh])).map(({ status }) => status)).toEqual([200, 200]);
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
      await expect(answer).rejects.toHaveProperty('outcome', UNREACHABLE);
      await closed;
    },
  );

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
      await expect(send()).rejects.toHaveProperty('outcome', UNREACHABLE);
    },
  );
});

describe('an agent for one protocol', () => {
  it('leaves the other protocol as it is: https, whose failure is reported', async () => {
    const { port, tlsFailures, send } = await serving();
    await expect(send({ url: `https://127.0.0.1:${port}` })).rejects.toHaveProperty('outcome', UNREACHABLE);
    expect(tlsFailures).toEqual([expect.stringMatching(/^ERR_SSL_|^EPROTO$/)]);
  });

  it('leaves the other protocol as it is: http', async () => {
    const { send } = await serving();
    expect((await send({ httpAgent: null, httpsAgent: new HttpsAgent() })).status).toBe(200);
  });
});
