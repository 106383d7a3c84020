import { once } from 'node:events';
import { type IncomingMessage, type RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../contract/outcome.js';
import type { OwnAgents } from './agent-requests.js';
import { Connections, type ServiceRequest } from './connections.js';
import { AxiosHttpService, NoReplyError } from './axios-http.service.js';
import { STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

/** Starts a server with the given request listener, and returns an HTTP service for it. */
async function serving(answer?: RequestListener, agents: OwnAgents = {}) {
  const { server, origin, seen } = await serve(answer);
  const limits = { maxConnections: 1, maxResponseBytes: 100, proxy: undefined };
  const connections = new Connections(limits);
  closeLater(() => connections.close());
  const usedAgents: OwnAgents[] = [];
  const send = (sent: ServiceRequest, ownAgents: OwnAgents) => {
    usedAgents.push(ownAgents);
    return connections.exchange(sent);
  };
  const http = new AxiosHttpService(agents, send, () => undefined);
  const request = (): ServiceRequest => requestTo(origin, { headers: { 'X-A': 'a' } });
  return { http, server, seen, request, usedAgents };
}

describe('a reply that an interceptor of the application returns', () => {
  it.each<[unknown, object]>([
    [null, UNREACHABLE],
    [undefined, UNREACHABLE],
    ['text', UNREACHABLE],
    [{ status: '200', headers: {} }, UNREACHABLE],
    [{ status: 200 }, UNREACHABLE],
    [{ status: 200, headers: null }, UNREACHABLE],
    [{ status: 200, headers: 'text' }, UNREACHABLE],
    [{ headers: {} }, UNREACHABLE],
    [
      { status: 200, headers: {}, data: 'text' },
      { status: 200, headers: {}, body: undefined },
    ],
    [
      { status: 200, headers: {}, data: Buffer.from('text') },
      { status: 200, headers: {}, body: Buffer.from('text') },
    ],
  ])('is read from %j as %j', async (left, answer) => {
    const { http, request } = await serving();
    http.axiosRef.interceptors.response.use(() => left as never);
    expect(await http.send(request())).toEqual(answer);
  });

  it('is unreachable if an interceptor throws', async () => {
    const { http, request } = await serving();
    http.axiosRef.interceptors.request.use(() => {
      throw new Error('of the application');
    });
    expect(await http.send(request())).toEqual(UNREACHABLE);
  });
});

describe('an interceptor', () => {
  it('sees the request of a response, and can remove headers', async () => {
    const { http, seen, request } = await serving();
    const paths: unknown[] = [];
    http.axiosRef.interceptors.request.use((config) => {
      Object.assign(config.headers, { 'X-A': null, 'X-B': undefined, 'X-C': 'c' });
      return config;
    });
    http.axiosRef.interceptors.response.use((response) => {
      paths.push(response.config.method);
      return response;
    });
    expect(await http.send(request())).toMatchObject({ status: 200 });
    expect(paths).toEqual(['get']);
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual(['x-c']);
  });

  it('receives the reason for a missing reply, as does the caller', async () => {
    let ending = false;
    const { http, request } = await serving((asked, response) =>
      ending ? asked.socket.destroy() : response.end(),
    );
    const failures: unknown[] = [];
    http.axiosRef.interceptors.response.use(undefined, (error: unknown) => {
      failures.push(error);
      throw error;
    });
    await http.send(request());
    ending = true;
    expect(await http.send(request())).toEqual(STALE_CONNECTION);
    expect(failures).toEqual([new NoReplyError(STALE_CONNECTION)]);
    expect(failures).toMatchObject([{ name: 'NoReplyError', outcome: STALE_CONNECTION }]);
  });

  it('is not called for a call whose deadline has ended', async () => {
    const { http, request } = await serving();
    let asked = 0;
    http.axiosRef.interceptors.request.use((config) => {
      asked += 1;
      return config;
    });
    const call = request();
    call.deadline.end('shutting_down');
    expect(await http.send(call)).toEqual(unavailable('shutting_down'));
    expect(asked).toBe(0);
  });

  it('does not prevent a call from ending at its deadline, with its connection', async () => {
    const { http, server, request } = await serving(() => undefined);
    http.axiosRef.interceptors.request.use((config) => config);
    const call = request();
    const answer = http.send(call);
    const [{ socket }] = (await once(server, 'request')) as [IncomingMessage];
    const closed = once(socket, 'close');
    call.deadline.end('timeout');
    expect(await answer).toEqual(unavailable('timeout'));
    await closed;
  });
});

describe('the agents of an application', () => {
  it.each(['httpAgent', 'httpsAgent'] as const)('are used if only an %s is set', async (name) => {
    const agent = new Agent();
    const { http, request, usedAgents } = await serving(undefined, { [name]: agent });
    expect(http.axiosRef.defaults[name]).toBe(agent);
    expect(await http.send(request())).toMatchObject({ status: 200 });
    expect(usedAgents).toEqual([{ [name]: agent }]);
  });
});

describe('the defaults', () => {
  it('follow no redirect, use no proxy, transform nothing and accept every status', async () => {
    const { adapter, ...defaults } = (await serving()).http.axiosRef.defaults;
    expect(typeof adapter).toBe('function');
    expect(defaults).toStrictEqual({
      headers: { common: {} },
      maxRedirects: 0,
      proxy: false,
      validateStatus: null,
    });
  });
});
