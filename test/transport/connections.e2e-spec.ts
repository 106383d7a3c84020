import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { SessionAuthService, type SessionAuthHttpOptions } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { json, bytes, reply, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

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
        'x-forwarded-for': '10.0.0.1',
        traceparent: '00-1-1-00',
      },
      ...{ accept: 'text/html', 'content-type': 'text/plain', 'if-none-match': '"1"', 'user-agent': 'agent' },
      ...{ 'x-api-key': 'the key of the caller', 'x-auth-iv': 'iv-1' },
    });

    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/authentication/user_details', body: '' });
    expect(request?.headers).toEqual(headersOf(service, token));
    // As the interface writes them.
    expect(request?.rawHeaders).toEqual(expect.arrayContaining(['X-API-KEY', 'X-AUTH-TOKEN', 'X-AUTH-IV']));
  });
});

const trap = bytes(
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Connection: close',
  '',
  '{"username":"trap","auth_token":"t"}',
);
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

  it('a proxy that the options name is used, for every operation [D07]', async () => {
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
