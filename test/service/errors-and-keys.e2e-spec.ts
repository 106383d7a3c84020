import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, Headers, HttpCode, Post } from '@nestjs/common';
import { SessionAuthService, type Credentials, type ApiKey } from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import { reply, json } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

@Controller()
class LoginController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Post('login')
  @HttpCode(200)
  async login(@Body() credentials: Credentials): Promise<string> {
    return (await this.sessions.signIn(credentials)).kind;
  }

  @Delete('logout')
  async logout(@Headers('x-auth-token') token: string): Promise<void> {
    await this.sessions.signOut(token);
  }

  @Get('details')
  async details(@Headers('x-auth-token') token: string): Promise<string | undefined> {
    return (await this.sessions.userDetails(token)).username;
  }

  @Get('bug')
  bug(): never {
    throw new TypeError('a bug of the application');
  }
}

const login = (
  app: RunningApp,
  body: string = JSON.stringify({ username: 'ann', password: 'x' }),
): Promise<Response> =>
  fetch(`${app.url}/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

const logout = (app: RunningApp, token = 'token'): Promise<Response> =>
  fetch(`${app.url}/logout`, { method: 'DELETE', headers: { 'x-auth-token': token } });

const UNAVAILABLE = { 'www-authenticate': null, 'retry-after': expect.stringMatching(/^\d+$/) as unknown };
const CHALLENGE = { 'www-authenticate': 'X-Auth-Token realm="session"', 'retry-after': null };
const REFUSED = {
  'www-authenticate': 'X-Auth-Token realm="session", error="invalid_token"',
  'retry-after': null,
};
const NEITHER = { 'www-authenticate': null, 'retry-after': null };

describe.each(platforms('Fastify'))(
  'an error of the service class that a controller lets through on %s',
  (_name, platform) => {
    const bed = testbed(platform);
    const controllers = [LoginController];

    async function expectAnswer(
      answer: Response,
      statusCode: number,
      code: string,
      headers: object,
    ): Promise<void> {
      expect(answer.status).toBe(statusCode);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(
        Object.fromEntries(Object.keys(headers).map((name) => [name, answer.headers.get(name)])),
      ).toEqual(headers);
      const texts = { message: expect.any(String) as unknown, error: expect.any(String) as unknown };
      const wait = answer.headers.get('retry-after');
      expect(await answer.json()).toEqual({
        statusCode,
        code,
        ...texts,
        ...(wait !== null && { retryAfterSeconds: Number(wait) }),
      });
    }

    it.each([
      [400, 400, 'INVALID_REQUEST', NEITHER],
      [401, 401, 'CREDENTIALS_REJECTED', CHALLENGE],
      [403, 403, 'ACCESS_DENIED', NEITHER],
      [429, 429, 'TOO_MANY_ATTEMPTS', UNAVAILABLE],
      [200, 503, 'SESSION_SERVICE_UNAVAILABLE', UNAVAILABLE],
    ])('turns the %p of a sign-in into %p %s', async (upstream, status, code, headers) => {
      const service = await bed.service();
      service.on('sign_in', reply(upstream));
      const app = await bed.sample({ baseUrl: service.url, controllers });

      await expectAnswer(await login(app), status, code, headers);
    });

    it.each([
      [422, 'rejected', 401, 'CREDENTIALS_REJECTED', CHALLENGE],
      [403, 'limited', 429, 'TOO_MANY_ATTEMPTS', UNAVAILABLE],
    ] as const)(
      'turns the %p of a sign-in that statusMap calls %p into %p %s [P50]',
      async (upstream, meaning, status, code, headers) => {
        const service = await bed.service();
        service.on('sign_in', reply(upstream));
        const options = { statusMap: { signIn: { [upstream]: meaning } } };
        const app = await bed.sample({ baseUrl: service.url, controllers, options });

        await expectAnswer(await login(app), status, code, headers);
        expect((await app.get('/details', 'not one')).status).toBe(401);
      },
    );

    it.each([
      [400, 400, 'INVALID_REQUEST', NEITHER],
      [403, 403, 'ACCESS_DENIED', NEITHER],
    ])('turns the %p of a sign-out into %p %s', async (upstream, status, code, headers) => {
      const service = await bed.service();
      service.on('sign_out', reply(upstream));
      const app = await bed.sample({ baseUrl: service.url, controllers });

      await expectAnswer(await logout(app), status, code, headers);
    });

    it.each(['bad', 'not one'])('turns a refused session into 401: %p', async (token) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers });

      await expectAnswer(await app.get('/details', token), 401, 'SESSION_REJECTED', REFUSED);
    });

    it("passes the service's Retry-After on", async () => {
      const service = await bed.service();
      service.on('sign_in', reply(503, '', { 'retry-after': '17' }));
      const app = await bed.sample({ baseUrl: service.url, controllers });

      expect((await login(app)).headers.get('retry-after')).toBe('17');
    });

    it.each(['[]', '{"username":{"$ne":1},"password":["x"]}'])(
      'turns credentials that are none into 400: %s',
      async (body) => {
        const service = await bed.service();
        const app = await bed.sample({ baseUrl: service.url, controllers });

        await expectAnswer(await login(app, body), 400, 'INVALID_REQUEST', NEITHER);
        expect(service.requests).toHaveLength(0);
      },
    );

    it('leaves an error that is not ours to the application', async () => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers });

      expect((await app.get('/bug')).status).toBe(500);
    });
  },
);

const never = (): Promise<string> => new Promise(() => undefined);
const giving = (value: unknown): ApiKey => (() => value) as ApiKey;

const UNUSABLE: [string, ApiKey][] = [
  ['rejects', () => Promise.reject(new Error('the vault is sealed'))],
  ['never settles', never],
  ['gives a key with a line break', giving('key\r\nX-AUTH-TOKEN: other')],
];

describe.each(platforms('Fastify'))('an application key from a function on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is asked for before each call, so that it can change', async () => {
    let version = 0;
    const service = await bed.service();
    const keys: ApiKey[] = [() => `key-${(version += 1)}`, () => Promise.resolve(`key-${(version += 1)}`)];

    for (const apiKey of keys) {
      const app = await bed.sample({ baseUrl: service.url, options: { apiKey } });
      await app.get('/me', service.signInAs({}));
      await app.get('/me', 'bad');
    }
    expect(service.requests.map(({ headers }) => headers['x-api-key'])).toEqual([
      'key-1',
      'key-2',
      'key-3',
      'key-4',
    ]);
  });

  it.each(UNUSABLE)(
    'that %s makes the reply 503, in time and without a call to the service',
    async (_case, apiKey) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, options: { apiKey, timeoutMs: 200 } });
      const reply = await app.get('/me', service.signInAs({}));

      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await reply.text()).not.toMatch(/vault|key/);
      expect(service.requests).toHaveLength(0);
    },
  );
});

describe('an application key from a function, for sign-in and sign-out', () => {
  const bed = testbed();

  it('is asked for too', async () => {
    const service = await bed.service();
    service.on('sign_in', json({ username: 'ann', auth_token: 'token' }));
    const sessions = await bed.sessions({
      baseUrl: service.url,
      options: { apiKey: () => Promise.resolve('vault-key') },
    });
    await sessions.signIn({ username: 'ann', password: 'x' });
    await sessions.signOut('token');

    expect(service.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['vault-key', 'vault-key']);
  });

  it.each(UNUSABLE)('that %s makes the service unavailable', async (_case, apiKey) => {
    const service = await bed.service();
    const timeoutMs = apiKey === never ? 200 : 60_000;
    const options = { apiKey, signInTimeoutMs: timeoutMs, signOutTimeoutMs: timeoutMs };
    const sessions = await bed.sessions({ baseUrl: service.url, options });
    await expect(sessions.signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({
      statusCode: 503,
      reason: 'api_key',
    });
    await expect(sessions.signOut('token')).rejects.toMatchObject({ statusCode: 503, reason: 'api_key' });
    expect(service.requests).toHaveLength(0);
  });
});
