import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { bytes, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const trap = bytes('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Connection: close', '', '{"username":"trap","auth_token":"t"}');
const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'NO_PROXY', 'no_proxy'];

describe.each(PLATFORMS)('on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('a redirect, over %s,', (_transport, http) => {
    it.each([301, 302, 303, 307, 308])('is not followed: %p becomes 503, and nobody connects to its target', async (status) => {
      const target = await bed.serviceThat(trap);
      const service = await bed.service();
      for (const operation of ['user_details', 'sign_in', 'sign_out'] as const) {
        service.on(operation, reply(status, '', { location: `${target.url}/authentication/user_details` }));
      }
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });
      const sessions = app.app.get(SessionAuthService);

      expect((await app.get('/me', 'token')).status).toBe(503);
      await expect(sessions.signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({ statusCode: 503 });
      await expect(sessions.signOut('token')).rejects.toMatchObject({ statusCode: 503 });
      expect(target.connections()).toBe(0);
      expect(service.requests).toHaveLength(3);
    });
  });

  describe.each(TRANSPORTS)('a proxy that the environment names, over %s,', (_transport, http) => {
    const before = new Map(VARIABLES.map((name) => [name, process.env[name]]));
    beforeEach(() => VARIABLES.forEach((name) => Reflect.deleteProperty(process.env, name)));
    afterEach(() =>
      before.forEach((value, name) =>
        value === undefined ? Reflect.deleteProperty(process.env, name) : Reflect.set(process.env, name, value),
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
    const proxy = await bed.service();
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
    expect(proxy.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([credentials, credentials, credentials]);
  });
});
