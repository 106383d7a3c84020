import { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { InternalAxiosRequestConfig } from 'axios';
import { AxiosHttpService } from './axios-http.service.js';
import { Connections, type ServiceRequest } from './connections.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

/**
 * Starts a server that records what it receives, and an HTTP service for it whose interceptor records, and
 * may change, what it sends.
 */
async function serving(change: (config: InternalAxiosRequestConfig) => void = () => undefined) {
  const seen: { readonly head: IncomingMessage; readonly body: string }[] = [];
  const sent: InternalAxiosRequestConfig[] = [];
  const { origin, connections } = await serve((head, response) => {
    void text(head).then((body) => (seen.push({ head, body }), response.end('reply')));
  });
  const limits = { maxConnections: 1, maxResponseBytes: 100, proxy: undefined };
  const pool = new Connections(limits);
  closeLater(() => pool.close());
  const http = new AxiosHttpService(
    {},
    (request) => pool.exchange(request),
    () => undefined,
  );
  http.axiosRef.interceptors.request.use((config) => {
    sent.push(config);
    change(config);
    return config;
  });
  const send = (request: Partial<ServiceRequest>) => http.send(requestTo(origin, request));
  return { http, origin, seen, sent, send, connections };
}

describe('a request that passes interceptors', () => {
  it('has exactly its headers and its body', async () => {
    const { seen, sent, send } = await serving();
    const headers = { 'Content-Type': 'application/json', 'X-A': 'a' };
    await send({ method: 'POST', path: '/path?query', headers, body: '{"a":1}' });
    expect([sent[0]?.headers.toJSON(), sent[0]?.data]).toEqual([
      { 'Content-Type': 'application/json', 'X-A': 'a' },
      '{"a":1}',
    ]);
    const { method, url, rawHeaders } = seen[0]?.head ?? {};
    expect([method, url, seen[0]?.body]).toEqual(['POST', '/path?query', '{"a":1}']);
    expect(rawHeaders?.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase())).toEqual([
      'host',
      'connection',
      'content-type',
      'x-a',
      'content-length',
    ]);
  });

  it('has no body if it has none, or if an interceptor sets one that is not text', async () => {
    const none = await serving();
    await none.send({});
    expect([none.sent[0] && 'data' in none.sent[0] && none.sent[0].data, none.seen[0]?.body]).toEqual([
      undefined,
      '',
    ]);

    const object = await serving((config) => (config.data = { a: 1 }));
    await object.send({ method: 'POST', body: 'text' });
    expect(object.seen[0]?.body).toBe('');
  });

  it('is sent on a fresh connection if it must be', async () => {
    const { seen, send, connections } = await serving();
    await send({});
    await send({ freshConnection: true });
    expect([connections(), ...seen.map(({ head }) => head.headers.connection)]).toEqual([
      2,
      'keep-alive',
      'close',
    ]);
  });
});

describe('a request of the application itself', () => {
  it('is sent over the pool', async () => {
    const { http, origin, seen, connections } = await serving();
    for (const path of ['/first', '/second']) {
      const { status, statusText, data } = await http.axiosRef.request<Buffer>({ url: `${origin}${path}` });
      expect([status, statusText, String(data)]).toEqual([200, '', 'reply']);
    }
    expect([connections(), ...seen.map(({ head }) => `${head.method} ${head.url}`)]).toEqual([
      1,
      'GET /first',
      'GET /second',
    ]);
  });
});
