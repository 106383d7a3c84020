import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { InternalAxiosRequestConfig } from 'axios';
import { unavailable } from '../contract/outcome.js';
import type { OwnAgents } from './agent-requests.js';
import type { ServiceRequest } from './connection.js';
import { Connections } from './connections.js';
import { AxiosHttpService, NoReplyError } from './axios-http.service.js';
import { STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

/** Starts a server, and returns an HTTP service for it, over one connection. */
async function serving(answer?: RequestListener, agents: OwnAgents = {}) {
  const served = await serve(answer);
  const limits = { maxConnections: 1, maxResponseBytes: 100, proxy: undefined };
  const pool = new Connections(limits);
  closeLater(() => pool.close());
  const usedAgents: OwnAgents[] = [];
  const send = (sent: ServiceRequest, ownAgents: OwnAgents) => {
    usedAgents.push(ownAgents);
    return pool.exchange(sent);
  };
  const http = new AxiosHttpService(agents, send, () => undefined);
  const request = (changes: Partial<ServiceRequest> = { headers: { 'X-A': 'a' } }): ServiceRequest =>
    requestTo(served.origin, changes);
  return { ...served, http, request, usedAgents };
}

/** The same, with an interceptor that records, and may change, what it sends, and the bodies that arrive. */
async function recording(change: (config: InternalAxiosRequestConfig) => void = () => undefined) {
  const bodies: string[] = [];
  const sent: InternalAxiosRequestConfig[] = [];
  const { http, request, ...served } = await serving((head, response) => {
    void text(head).then((body) => (bodies.push(body), response.end('reply')));
  });
  http.axiosRef.interceptors.request.use((config) => {
    sent.push(config);
    change(config);
    return config;
  });
  return {
    ...served,
    http,
    bodies,
    sent,
    send: (changes: Partial<ServiceRequest>) => http.send(request(changes)),
  };
}

const NOTHING = undefined as unknown as Error;

describe('a reply that an interceptor of the application returns', () => {
  const [text, bytes] = ['text', Buffer.from('text')];
  it.each<[unknown, object]>([
    [null, UNREACHABLE],
    [undefined, UNREACHABLE],
    ['text', UNREACHABLE],
    [{ status: '200', headers: {} }, UNREACHABLE],
    [{ status: 200 }, UNREACHABLE],
    [{ status: 200, headers: null }, UNREACHABLE],
    [
      { status: 200, headers: {}, data: text },
      { status: 200, headers: {}, body: undefined },
    ],
    [
      { status: 200, headers: {}, data: bytes },
      { status: 200, headers: {}, body: bytes },
    ],
  ])('is read from %j as %j', async (left, answer) => {
    const { http, request } = await serving();
    http.axiosRef.interceptors.response.use(() => left as never);
    expect(await http.send(request())).toEqual(answer);
  });

  it.each<[string, (config: InternalAxiosRequestConfig) => unknown]>([
    ['throws', () => assert.fail('of the application')],
    ['rejects with nothing', () => Promise.reject(NOTHING)],
    ['gives no request', () => undefined],
    ['gives a url that is none', (config) => Object.assign(config, { url: 'http://' })],
    ['gives a header that has no name', (config) => Object.assign(config, { headers: { 'X A': 'a' } })],
  ])('is unreachable if an interceptor %s', async (_what, interceptor) => {
    const [{ http, request }, other] = [await serving(), await serving()];
    http.axiosRef.interceptors.request.use(interceptor as never);
    expect(await http.send(request())).toEqual(UNREACHABLE);
    expect(await other.http.send(other.request())).toMatchObject({ status: 200 });
  });
});

describe('an interceptor', () => {
  it('sees the request of a response, and can change its url and its headers, but not how it is sent', async () => {
    const { http, seen, request } = await serving();
    const paths: unknown[] = [];
    http.axiosRef.interceptors.request.use((config) => {
      Object.assign(config.headers, { 'X-A': null, 'X-B': undefined, 'X-C': 'c' });
      config.url = `${config.url ?? ''}?tenant=7`;
      return Object.assign(config, { maxRedirects: 5, maxContentLength: -1, decompress: true, timeout: 1 });
    });
    http.axiosRef.interceptors.response.use((response) => {
      paths.push(response.config.method);
      return response;
    });
    const headers = { connection: 'keep-alive' };
    expect(await http.send(request())).toMatchObject({ status: 200, headers });
    expect([paths, seen[0]?.url]).toEqual([['get'], '/?tenant=7']);
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

  it.each(['request', 'response'] as const)(
    'of a %s that never settles ends at the deadline',
    async (kind) => {
      const { http, request } = await serving();
      http.axiosRef.interceptors[kind].use(() => new Promise<never>(() => undefined));
      const call = request();
      const answer = http.send(call);
      setImmediate(() => call.deadline.end('timeout'));
      expect(await answer).toEqual(unavailable('timeout'));
    },
  );

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
  it.each(['httpAgent', 'httpsAgent'] as const)(
    'are used if only an %s is set, then or later',
    async (name) => {
      const [agent, later] = [new Agent(), new Agent()];
      const { http, request, usedAgents } = await serving(undefined, { [name]: agent });
      expect(http.axiosRef.defaults[name]).toBe(agent);
      expect(await http.send(request())).toMatchObject({ status: 200 });
      http.axiosRef.defaults[name] = later;
      await http.send(request());
      // The same objects: a copy of an agent would have none of its private fields.
      expect([usedAgents[0]?.[name] === agent, usedAgents[1]?.[name] === later]).toEqual([true, true]);
    },
  );
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

describe('a request that passes interceptors', () => {
  it('has exactly its headers and its body', async () => {
    const { seen, bodies, sent, send } = await recording();
    const headers = { 'Content-Type': 'application/json', 'X-A': 'a' };
    await send({ method: 'POST', path: '/path?query', headers, body: '{"a":1}' });
    expect([sent[0]?.headers.toJSON(), sent[0]?.data]).toEqual([
      { 'Content-Type': 'application/json', 'X-A': 'a' },
      '{"a":1}',
    ]);
    const { method, url, rawHeaders } = seen[0] ?? {};
    expect([method, url, bodies[0]]).toEqual(['POST', '/path?query', '{"a":1}']);
    expect(rawHeaders?.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase())).toEqual([
      'host',
      'connection',
      'content-type',
      'x-a',
      'content-length',
    ]);
  });

  it('has no body if it has none, or if an interceptor sets one that is not text', async () => {
    const none = await recording();
    await none.send({});
    expect([none.sent[0] && 'data' in none.sent[0] && none.sent[0].data, none.bodies[0]]).toEqual([
      undefined,
      '',
    ]);

    const object = await recording((config) => (config.data = { a: 1 }));
    await object.send({ method: 'POST', body: 'text' });
    expect(object.bodies[0]).toBe('');
  });

  it('is sent on a fresh connection if it must be', async () => {
    const { seen, send, connections } = await recording();
    await send({});
    await send({ freshConnection: true });
    expect([connections(), ...seen.map(({ headers }) => headers.connection)]).toEqual([
      2,
      'keep-alive',
      'close',
    ]);
  });
});

describe('a request of the application itself', () => {
  it('is sent over the pool', async () => {
    const { http, origin, seen, connections } = await recording();
    for (const path of ['/first', '/second']) {
      const { status, statusText, data } = await http.axiosRef.request<Buffer>({ url: `${origin}${path}` });
      expect([status, statusText, String(data)]).toEqual([200, '', 'reply']);
    }
    expect([connections(), ...seen.map(({ method, url }) => `${method} ${url}`)]).toEqual([
      1,
      'GET /first',
      'GET /second',
    ]);
  });
});
