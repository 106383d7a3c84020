import { describe, expect, it, afterEach, beforeEach } from '@jest/globals';
import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import { SessionAuthService, type SessionAuthHttpOptions } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { json, bytes, reply, type Script, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

/** An agent that reports each connection that it makes. */
class ReportingAgent extends Agent {
  constructor(private readonly report: () => void) {
    super({ keepAlive: true });
  }

  override createConnection(...connection: [ClientRequestArgs]): Socket {
    this.report();
    return (super.createConnection as (...connection: unknown[]) => Socket)(...connection);
  }
}

const AGENTS: [string, () => SessionAuthHttpOptions][] = [
  ['the built-in pool', () => ({})],
  ['a keep-alive agent', () => ({ httpAgent: new Agent({ keepAlive: true }) })],
  [
    'a keep-alive agent with a bound on all connections',
    () => ({ httpAgent: new Agent({ keepAlive: true, maxTotalSockets: 2 }) }),
  ],
];

/** All headers of a check under the IV `iv-1`. */
const headersOf = ({ url }: ScriptedService, token: string): object => ({
  host: new URL(url).host,
  connection: 'keep-alive',
  accept: 'application/json',
  'accept-encoding': 'identity',
  'x-api-key': 'application-key',
  'x-auth-token': token,
  'x-auth-iv': 'iv-1',
});

/** Answers, and then ends the connection without having said so. */
const endAfter =
  (script: Script): Script =>
  (request, response, socket) => {
    response.on('finish', () => socket.destroySoon());
    script(request, response, socket);
  };

describe.each(platforms('Express'))('the connections to the session service on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(AGENTS)(
    'of %s are reused by checks, and never by a sign-in or a sign-out',
    async (_agent, http) => {
      const service = await bed.service();
      service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
      service.on('sign_out', reply(200));
      const token = service.signInAs({}, 'token');
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });
      const sessions = app.app.get(SessionAuthService);
      for (let round = 0; round < 3; round += 1) {
        await sessions.verify(token);
        await sessions.signIn({ username: 'ann', password: 'x' });
        await sessions.signOut(token);
        await sessions.verify(token);
      }
      const portsOf = (wanted: RegExp): (number | undefined)[] =>
        service.requests.filter(({ method }) => wanted.test(method)).map(({ remotePort }) => remotePort);
      const fresh = portsOf(/POST|DELETE/);

      expect(new Set(fresh).size).toBe(6);
      expect(portsOf(/GET/).filter((port) => fresh.includes(port))).toEqual([]);
      expect(new Set(portsOf(/GET/)).size).toBeLessThan(6);
    },
  );

  it.each(AGENTS)(
    'of %s may be closed by the service between requests: every call is still answered',
    async (_agent, http) => {
      const service = await bed.service();
      service.on('user_details', endAfter(json({ username: 'ann' })));
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });
      const statuses: number[] = [];
      for (let call = 0; call < 200; call += 1) statuses.push((await app.get('/me', `token-${call}`)).status);

      expect(statuses).toEqual(Array(200).fill(200));
    },
  );

  it('are made by the agent of the application', async () => {
    const service = await bed.service();
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    let connections = 0;
    const httpAgent = new ReportingAgent(() => (connections += 1));
    const app = await bed.sample({ baseUrl: service.url, options: { http: { httpAgent } } });
    const sessions = app.app.get(SessionAuthService);

    expect((await app.get('/me', service.signInAs({}))).status).toBe(200);
    expect(connections).toBe(1);
    await sessions.signIn({ username: 'ann', password: 'x' });
    await sessions.signOut('token');
    expect(connections).toBe(3);
  });
});

describe.each(platforms('Express'))('the request that goes upstream from %s', (_name, platform) => {
  const bed = testbed(platform);

  it('carries the key, the token and the headers that HTTP needs, and nothing else of the caller', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const token = service.signInAs({});
    await app.get('/me?page=2', token, {
      ...{
        authorization: 'Bearer x',
        cookie: 'a=b',
        'user-agent': 'agent',
        referer: 'http://a.example',
        origin: 'http://a.example',
      },
      ...{
        'x-forwarded-for': '10.0.0.1',
        forwarded: 'for=10.0.0.1',
        traceparent: '00-1-1-00',
        'accept-language': 'de',
        accept: 'text/html',
      },
      ...{
        'x-api-key': 'the key of the caller',
        'content-type': 'text/plain',
        'if-none-match': '"1"',
        'x-auth-iv': 'iv-1',
      },
    });

    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/authentication/user_details', body: '' });
    expect(request?.headers).toEqual(headersOf(service, token));
  });

  it('writes the header names as the interface does', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    await app.get('/me', service.signInAs({}), { 'x-auth-iv': 'iv-1' });

    expect(service.requests[0]?.rawHeaders).toEqual(
      expect.arrayContaining(['X-API-KEY', 'X-AUTH-TOKEN', 'X-AUTH-IV']),
    );
  });

  it.each(['GET', 'HEAD'])('is the same GET for a %s', async (method) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const reply = await fetch(`${app.url}/me`, { method, headers: { 'x-auth-token': service.signInAs({}) } });

    expect(reply.status).toBe(200);
    expect(service.requests.map((request) => request.method)).toEqual(['GET']);
  });
});

const trap = bytes(
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Connection: close',
  '',
  '{"username":"trap","auth_token":"t"}',
);
const VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
];

describe.each(platforms('Express'))('on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('a redirect, over %s,', (_transport, http) => {
    it.each([301, 307])(
      'is not followed: %p becomes 503, and its target gets no connection',
      async (status) => {
        const target = await bed.serviceThat(trap);
        const service = await bed.service();
        for (const operation of ['user_details', 'sign_in', 'sign_out'] as const) {
          service.on(operation, reply(status, '', { location: `${target.url}/authentication/user_details` }));
        }
        const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });
        const sessions = app.app.get(SessionAuthService);

        expect((await app.get('/me', 'token')).status).toBe(503);
        await expect(sessions.signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({
          statusCode: 503,
        });
        await expect(sessions.signOut('token')).rejects.toMatchObject({ statusCode: 503 });
        expect(target.connections()).toBe(0);
        expect(service.requests).toHaveLength(3);
      },
    );
  });

  describe.each(TRANSPORTS)('a proxy that the environment names, over %s,', (_transport, http) => {
    const before = new Map(VARIABLES.map((name) => [name, process.env[name]]));
    beforeEach(() => VARIABLES.forEach((name) => Reflect.deleteProperty(process.env, name)));
    afterEach(() =>
      before.forEach((value, name) =>
        value === undefined
          ? Reflect.deleteProperty(process.env, name)
          : Reflect.set(process.env, name, value),
      ),
    );

    it('is not used', async () => {
      const proxy = await bed.serviceThat(trap);
      for (const name of VARIABLES.slice(0, 6)) process.env[name] = proxy.url;
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });

      expect((await app.get('/me', service.signInAs({}))).status).toBe(200);
      await app.app.get(SessionAuthService).signOut('token');
      expect(service.requests).toHaveLength(2);
      expect(proxy.connections()).toBe(0);
    });
  });

  it('a proxy that the options name is used, for every operation', async () => {
    const proxy = await bed.service({ basePath: '/api' });
    const token = proxy.signInAs({});
    const { hostname, port } = new URL(proxy.url);
    const auth = { username: 'app', password: 'proxy-password' };
    const options = { http: { proxy: { host: hostname, port: Number(port), auth } } };
    const app = await bed.sample({ baseUrl: 'http://sessions.example.com/api', options });
    const sessions = app.app.get(SessionAuthService);

    expect((await app.get('/me', token)).status).toBe(200);
    await sessions.signIn({ username: 'ann', password: 'x' }).catch(() => undefined);
    await sessions.signOut(token);
    expect(proxy.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET http://sessions.example.com/api/authentication/user_details',
      'POST http://sessions.example.com/api/authentication',
      'DELETE http://sessions.example.com/api/authentication',
    ]);
    const credentials = `Basic ${Buffer.from('app:proxy-password').toString('base64')}`;
    expect(proxy.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([
      credentials,
      credentials,
      credentials,
    ]);
  });
});
