import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as undici from 'undici/index.js';
import { Deadline } from './deadline.js';
import type { Connections, ConnectionSettings } from './connections.js';
import type { ServiceRequest } from './service-request.js';

/** A dispatcher that undici was asked to create: its class, and the options. */
const created: (readonly [kind: string, options: object])[] = [];

class Pool extends undici.Pool {
  constructor(origin: string | URL, options: undici.Pool.Options) {
    super(origin, options);
    created.push(['Pool', options]);
  }
}
class Client extends undici.Client {
  constructor(origin: string | URL, options: undici.Client.Options) {
    super(origin, options);
    created.push(['Client', options]);
  }
}
class Agent extends undici.Agent {
  constructor(options: undici.Agent.Options) {
    super(options);
    created.push(['Agent', options]);
  }
}
class ProxyAgent extends undici.ProxyAgent {
  constructor(options: undici.ProxyAgent.Options) {
    super(options);
    created.push(['ProxyAgent', options]);
  }
}
const buildConnector = (options: undici.buildConnector.BuildOptions): undici.buildConnector.connector => {
  created.push(['connector', options]);
  return undici.buildConnector(options);
};

let loaded: { Connections: typeof Connections };
beforeAll(async () => {
  jest.unstable_mockModule('undici/index.js', () => ({
    ...undici,
    Pool,
    Client,
    Agent,
    ProxyAgent,
    buildConnector,
  }));
  loaded = await import('./connections.js');
});

const open: (() => unknown)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(open.splice(0).map((close) => close()));
  created.length = 0;
});

/** Starts a server, and returns what sends requests to it. */
async function serving(settings: Partial<ConnectionSettings> = {}) {
  const answer: RequestListener = (_request, response) => void response.end();
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const limits = { maxConnections: 3, connectTimeoutMs: 5_000, maxResponseBytes: 100, proxy: undefined };
  const connections = new loaded.Connections({ origin, ...limits, ...settings });
  open.push(
    () => connections.close(),
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
  return {
    port,
    connections,
    send: (freshConnection = false) => connections.exchange({ ...request, freshConnection }),
  };
}

const ofKind = (wanted: string): object[] =>
  created.filter(([kind]) => kind === wanted).map(([, options]) => options);

/** The deadline of the call is the only timeout, and a header has a maximum length. */
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16_384 };

describe('the limits of connections', () => {
  it('to the service are those of the registration', async () => {
    await serving();
    expect(ofKind('Pool')).toMatchObject([{ ...LIMITS, connections: 3 }]);
    expect(ofKind('connector')).toEqual(expect.arrayContaining([{ timeout: 5_000 }, { timeout: 0 }]));
  });

  it('to another origin are the same', async () => {
    const { send } = await serving({ origin: 'http://other.invalid' });
    expect(await send()).toMatchObject({ status: 200 });
    expect(ofKind('Agent')).toMatchObject([{ ...LIMITS, connections: 3 }]);
  });

  it('of a fresh connection are the same', async () => {
    const { send } = await serving();
    expect(await send(true)).toMatchObject({ status: 200 });
    expect(ofKind('Client')).toMatchObject([LIMITS]);
  });

  it('through a proxy are the same', async () => {
    const proxy = await serving();
    created.length = 0;
    const { send } = await serving({ proxy: { host: '127.0.0.1', port: proxy.port } });
    expect(await send()).toMatchObject({ status: 200 });
    expect(ofKind('ProxyAgent')).toMatchObject([{ ...LIMITS, connections: 3, proxyTunnel: false }]);
    expect(ofKind('Pool')).toMatchObject([{ ...LIMITS, connections: 3 }]);
  });
});

describe('a proxy', () => {
  it.each<[ConnectionSettings['proxy'], object]>([
    [{ host: 'proxy', port: 8080 }, { uri: 'http://proxy:8080' }],
    [{ protocol: 'https:', host: 'proxy', port: 8080 }, { uri: 'https://proxy:8080' }],
    [{ protocol: 'https', host: 'proxy', port: 8080 }, { uri: 'https://proxy:8080' }],
    [
      { host: 'proxy', port: 8080, auth: { username: 'ann', password: 'secret' } },
      { uri: 'http://proxy:8080', token: `Basic ${Buffer.from('ann:secret').toString('base64')}` },
    ],
  ])('of %j has the options %j', async (proxy, { ...options }) => {
    await serving({ proxy });
    const [{ uri, token }] = ofKind('ProxyAgent') as [undici.ProxyAgent.Options];
    expect({ uri, ...(token !== undefined && { token }) }).toEqual(options);
  });
});

describe('a renewal', () => {
  it('replaces the pool at most once a second', async () => {
    const { connections } = await serving();
    const clock = jest.spyOn(performance, 'now');
    const poolsAt = (nowMs: number): number => {
      clock.mockReturnValue(nowMs);
      connections.renew();
      return ofKind('Pool').length;
    };
    expect([0, 0, 999, 1_000, 1_999, 2_000].map(poolsAt)).toEqual([2, 2, 2, 3, 3, 4]);
  });

  it('closes the former pool, when its calls have completed', async () => {
    const { connections, send } = await serving();
    const closing = jest.spyOn(undici.Pool.prototype, 'close');
    const answer = send();
    connections.renew();
    expect(closing).toHaveBeenCalled();
    expect(await answer).toMatchObject({ status: 200 });
  });
});
