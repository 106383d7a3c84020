import { once } from 'node:events';
import { Agent, createServer, type RequestListener } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import axios, { type AxiosRequestConfig, type AxiosResponse } from 'axios';
import { agentAdapter } from './agent-adapter.js';
import { STALE_CONNECTION, UNREACHABLE } from './reply.js';

const open: (() => unknown)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/**
 * Starts a server with the given request listener, and a client that sends requests to it over a keep-alive
 * agent.
 */
async function serving(
  answer: RequestListener,
  config: AxiosRequestConfig & { freshConnection?: boolean } = {},
) {
  const server = createServer(answer).listen(0, '127.0.0.1');
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
  const client = axios.create({ adapter: agentAdapter(10), httpAgent, ...config });
  return {
    port,
    send: (url = `http://127.0.0.1:${port}`): Promise<AxiosResponse<unknown>> => client.get(url),
  };
}

describe('a request over the agents of an application', () => {
  it.each<[string, RequestListener]>([
    ['is reset', ({ socket }) => void socket.resetAndDestroy()],
    ['is closed', ({ socket }) => void socket.destroy()],
  ])(
    'on a connection that %s fails as stale if it was reused, and otherwise as unreachable',
    async (_name, end) => {
      let ending = false;
      const { send } = await serving((request, response) =>
        ending ? end(request, response) : response.end(),
      );
      expect((await send()).status).toBe(200);
      ending = true;
      await expect(send()).rejects.toHaveProperty('outcome', STALE_CONNECTION);
      await expect(send()).rejects.toHaveProperty('outcome', UNREACHABLE);
    },
  );

  it('fails as unreachable if its reply is cut off, on a reused connection too', async () => {
    let breaking = false;
    const { send } = await serving((_request, response) => {
      if (!breaking) response.end();
      else response.writeHead(200, { 'content-length': '5' }).write('a', () => response.destroy());
    });
    await send();
    breaking = true;
    await expect(send()).rejects.toHaveProperty('outcome', UNREACHABLE);
  });

  it('fails as unreachable if axios cannot send it', async () => {
    const { send } = await serving((_request, response) => void response.end());
    await expect(send('ftp://127.0.0.1')).rejects.toHaveProperty('outcome', UNREACHABLE);
  });

  it('has the status and the headers, but no body, of a reply in an encoding that was not requested', async () => {
    const { send } = await serving(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('text'),
    );
    const { status, headers, data } = await send();
    expect([status, headers['content-encoding'], data]).toEqual([200, 'gzip', undefined]);
  });

  it('connects with the https agent, for a fresh connection too', async () => {
    const httpsAgent = new HttpsAgent();
    const { port, send } = await serving((_request, response) => void response.end('own'), {
      httpsAgent,
      freshConnection: true,
    } as object);
    httpsAgent.createConnection = () => connect(port, '127.0.0.1');
    expect(String((await send(`https://127.0.0.1:${port}`)).data)).toBe('own');
  });
});
