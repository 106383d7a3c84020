import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, Headers, HttpCode, Post } from '@nestjs/common';
import { SessionAuthService, type Credentials, type ApiKey } from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import { reply } from '../support/scripted-service.js';
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

  @Get('bug')
  bug(): never {
    throw new TypeError('a bug of the application');
  }
}

const login = (app: RunningApp, credentials: unknown = { username: 'ann', password: 'x' }) =>
  fetch(`${app.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });

const WAIT = { 'www-authenticate': null, 'retry-after': '17' };
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

    async function expectAnswer(answer: Response, statusCode: number, code: string, headers: object) {
      expect(answer.status).toBe(statusCode);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const wait = answer.headers.get('retry-after');
      expect({ 'www-authenticate': answer.headers.get('www-authenticate'), 'retry-after': wait }).toEqual(
        headers,
      );
      const texts = { message: expect.any(String) as unknown, error: expect.any(String) as unknown };
      const seconds = wait === null ? {} : { retryAfterSeconds: Number(wait) };
      expect(await answer.json()).toEqual({ statusCode, code, ...texts, ...seconds });
    }

    it.each([
      [400, undefined, 400, 'INVALID_REQUEST', NEITHER],
      [503, undefined, 503, 'SESSION_SERVICE_UNAVAILABLE', WAIT],
      [422, 'rejected', 401, 'CREDENTIALS_REJECTED', CHALLENGE],
      [403, 'limited', 429, 'TOO_MANY_ATTEMPTS', WAIT],
    ] as const)(
      'turns the %p of a sign-in, which statusMap calls %p, into %p %s [P50]',
      async (upstream, meaning, status, code, headers) => {
        const service = await bed.service();
        service.on('sign_in', reply(upstream, '', { 'retry-after': '17' }));
        const options = meaning ? { statusMap: { signIn: { [upstream]: meaning } } } : {};
        const app = await bed.sample({ baseUrl: service.url, controllers, options });

        await expectAnswer(await login(app), status, code, headers);
      },
    );

    it('turns what cannot be sent into 400 or 401, without a call to the service', async () => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers });
      await expectAnswer(await login(app, []), 400, 'INVALID_REQUEST', NEITHER);
      const logout = { method: 'DELETE', headers: { 'x-auth-token': 'not one' } };
      await expectAnswer(await fetch(`${app.url}/logout`, logout), 401, 'SESSION_REJECTED', REFUSED);
      expect(service.requests).toHaveLength(0);
    });

    it('leaves an error that is not ours to the application', async () => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers });

      expect((await app.get('/bug')).status).toBe(500);
    });
  },
);

describe('an application key from a function', () => {
  const bed = testbed();

  it('is asked for before each call, so that it can change', async () => {
    let version = 0;
    const service = await bed.service();
    const apiKey: ApiKey = () => Promise.resolve(`key-${(version += 1)}`);
    const app = await bed.sample({ baseUrl: service.url, options: { apiKey } });
    await app.get('/me', service.signInAs({}));
    await app.get('/me', 'bad');
    await app.app.get(SessionAuthService).signOut('token');

    const keys = service.requests.map(({ headers }) => headers['x-api-key']);
    expect(keys).toEqual(['key-1', 'key-2', 'key-3']);
  });

  it('that rejects makes the reply 503, without its error and without a call to the service', async () => {
    const service = await bed.service();
    const apiKey: ApiKey = () => Promise.reject(new Error('the vault is sealed'));
    const app = await bed.sample({ baseUrl: service.url, options: { apiKey } });
    const answer = await app.get('/me', service.signInAs({}));

    expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringMatching(/vault|key/)]);
    expect(service.requests).toHaveLength(0);
  });
});
