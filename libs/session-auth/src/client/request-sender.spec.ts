import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import { Deadline } from './deadline.js';
import { UNREACHABLE } from './reply.js';
import { RequestSender } from './request-sender.js';
import type { ServiceRequest } from './service-request.js';
import { SessionHttpService } from './session-http.service.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(open.splice(0).map((close) => close()));
});

const answerAll: RequestListener = (_request, response) => void response.end();

/** Starts a service, and a sender of requests to it. */
async function sending(agents: { httpAgent?: Agent; httpsAgent?: Agent } = {}, answer = answerAll) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = { maxConnections: 1, connectTimeoutMs: 5_000, maxResponseBytes: 100, proxy: undefined };
  const sender = await RequestSender.create({
    origin,
    ...limits,
    httpAgent: undefined,
    httpsAgent: undefined,
    ...agents,
  });
  open.push(
    () => sender.close(),
    () => {
      server.close();
      server.closeAllConnections();
    },
  );
  const deadline = new Deadline(60_000);
  open.push(() => deadline.clear());
  const request: ServiceRequest = {
    method: 'GET',
    origin,
    path: '/',
    headers: [],
    body: null,
    deadline,
    freshConnection: false,
  };
  return { sender, server, send: () => sender.send(request), connections: () => connections };
}

describe('the requests of a registration', () => {
  it('are sent over the pool, without axios, if the application uses neither', async () => {
    const loading = jest.spyOn(RequestSender.prototype, 'http');
    const { send, connections } = await sending();
    expect([await send(), await send()]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect([connections(), loading.mock.calls]).toEqual([1, []]);
  });

  it('pass the interceptors of the application, from its first use of the service on', async () => {
    const { sender, send } = await sending();
    const http = await sender.http();
    expect(await sender.http()).toBe(http);
    expect(await send()).toMatchObject({ status: 200 });
    http.axiosRef.interceptors.response.use((response) => ({ ...response, status: 299 }));
    expect(await send()).toMatchObject({ status: 299 });
  });

  it('are sent over an agent of the application, from the first on', async () => {
    const httpAgent = new Agent();
    const connecting = jest.spyOn(httpAgent, 'createConnection');
    const { send } = await sending({ httpAgent });
    expect(await send()).toMatchObject({ status: 200 });
    expect(connecting).toHaveBeenCalledTimes(1);
  });

  it('go through axios if there is only an agent for https', async () => {
    const loading = jest.spyOn(RequestSender.prototype, 'http');
    await sending({ httpsAgent: new HttpsAgent() });
    expect(loading).toHaveBeenCalledTimes(1);
  });

  it('use a new pool after a renewal', async () => {
    const { sender, send, connections } = await sending();
    await send();
    sender.renew();
    expect([await send(), connections()]).toMatchObject([{ status: 200 }, 2]);
  });

  it('end when the sender is closed', async () => {
    const { sender, server, send } = await sending({}, () => undefined);
    const answer = send();
    await (once(server, 'request') as Promise<[IncomingMessage]>);
    await sender.close();
    expect(await answer).toEqual(UNREACHABLE);
  });
});

describe('SessionHttpService', () => {
  it('is the class of the service of a registration', async () => {
    const { sender } = await sending();
    expect(await sender.http()).toBeInstanceOf(SessionHttpService);
  });

  it.each([new HttpService(), {}, null, undefined, 'text', HttpService])(
    'is not the class of %p',
    (value) => {
      expect(value).not.toBeInstanceOf(SessionHttpService);
    },
  );
});
