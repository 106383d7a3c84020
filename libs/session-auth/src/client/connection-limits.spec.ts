import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as undici from 'undici/index.js';
import type { ConnectionSettings } from './connection.js';
import type { Connections } from './connections.js';
import { closeLater, requestTo, serve } from '../../../../test/support/service-requests.js';

/** A dispatcher that undici was asked to create: its class, and the options. */
const created: (readonly [kind: string, options: object])[] = [];

class Client extends undici.Client {
  constructor(origin: string | URL, options: undici.Client.Options) {
    super(origin, options);
    created.push(['Client', options]);
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
    Client,
    ProxyAgent,
    buildConnector,
  }));
  loaded = await import('./connections.js');
});

afterEach(() => void (created.length = 0));

/** Starts a server, and returns what sends requests to it. */
async function serving(settings: Partial<ConnectionSettings> = {}) {
  const { origin, port } = await serve();
  const limits = { maxConnections: 3, maxResponseBytes: 100, proxy: undefined };
  const connections = new loaded.Connections({ ...limits, ...settings });
  closeLater(() => connections.close());
  const request = requestTo(origin);
  return {
    port,
    connections,
    request,
    send: (freshConnection = false) => connections.exchange({ ...request, freshConnection }),
  };
}

const ofKind = (wanted: string): object[] =>
  created.filter(([kind]) => kind === wanted).map(([, options]) => options);

/** The deadline of a call is its only timeout, a header has a maximum length, and no hint keeps a connection. */
const LIMITS = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 16_384,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 4_000,
};

describe('the limits of connections', () => {
  it.each([false, true])('to the service are those of the registration (fresh: %p)', async (fresh) => {
    const { send } = await serving();
    expect(await send(fresh)).toMatchObject({ status: 200 });
    expect(ofKind('Client')).toMatchObject([LIMITS]);
    expect(ofKind('connector')).toEqual([{ timeout: 0 }]);
  });

  it.each([false, true])('through a proxy are the same (fresh: %p)', async (fresh) => {
    const { port } = await serving();
    const { send } = await serving({ proxy: { host: '127.0.0.1', port } });
    expect(await send(fresh)).toMatchObject({ status: 200 });
    expect(ofKind('ProxyAgent')).toMatchObject([{ proxyTunnel: false }]);
    expect(ofKind('Client')).toMatchObject([LIMITS]);
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
    const { connections, request } = await serving({ proxy });
    const answer = connections.exchange(request);
    request.deadline.end('timeout');
    await answer;
    const [{ uri, token }] = ofKind('ProxyAgent') as [undici.ProxyAgent.Options];
    expect({ uri, ...(token !== undefined && { token }) }).toEqual(options);
  });
});
