import { once } from 'node:events';
import { Agent, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { exchangeOverAgent, type OwnAgents } from './agent-requests.js';
import type { ServiceRequest } from './connection.js';
import { type Answer, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

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
