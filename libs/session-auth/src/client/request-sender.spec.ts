import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import { unavailable } from '../contract/outcome.js';
import { Deadline } from './deadline.js';
import { UNREACHABLE } from './reply.js';
import { RequestSender, type RequestSenderSettings } from './request-sender.js';
import { SessionHttpService } from './session-http.service.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

afterEach(() => void jest.restoreAllMocks());

/** Starts a service, and a sender of requests to it. */
async function sending(settings: Partial<RequestSenderSettings> = {}, answer?: RequestListener) {
  const { server, origin, connections } = await serve(answer);
  const limits = { maxConnections: 1, maxResponseBytes: 100, proxy: undefined };
  const sender = new RequestSender({ ...limits, ...settings });
  closeLater(() => sender.close());
  const request = requestTo(origin);
  return { sender, server, request, send: () => sender.send(request), connections };
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

  it('are sent over an agent that it sets on axiosRef later', async () => {
    const { sender, send } = await sending();
    await send();
    const httpAgent = new Agent();
    const connecting = jest.spyOn(httpAgent, 'createConnection');
    (await sender.http()).axiosRef.defaults.httpAgent = httpAgent;
    expect(await send()).toMatchObject({ status: 200 });
    expect(connecting).toHaveBeenCalledTimes(1);
  });

  it('need neither undici nor axios if there is only an agent for https', async () => {
    const { sender, send } = await sending({ httpsAgent: new HttpsAgent() });
    const loading = [jest.spyOn(sender, 'load'), jest.spyOn(sender, 'http')];
    expect(await send()).toMatchObject({ status: 200 });
    expect(loading.map(({ mock }) => mock.calls)).toEqual([[], []]);
  });

  it('wait for undici if they are sent before it was loaded, but no longer than their deadline', async () => {
    const { sender, send, request } = await sending();
    jest.spyOn(sender, 'load').mockReturnValueOnce(new Promise(() => undefined));
    const deadline = new Deadline(60_000);
    const late = sender.send({ ...request, deadline });
    expect(await Promise.all([send(), send()])).toMatchObject([{ status: 200 }, { status: 200 }]);
    deadline.end('timeout');
    expect(await late).toEqual(unavailable('timeout'));
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

  it('load nothing if the sender is closed before the first', async () => {
    const { sender, send, connections } = await sending();
    await sender.close();
    expect([await sender.load(), await send(), connections()]).toEqual([undefined, UNREACHABLE, 0]);
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
