import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

describe.each(PLATFORMS)('the base URL on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([
    ['', ''],
    ['/', ''],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['/api/v1', '/api/v1'],
    ['/api/v1/', '/api/v1'],
    ['/a%20b', '/a%20b'],
    ['/authentication-service', '/authentication-service'],
  ])('with the path %p has its endpoints under %p', async (path, prefix) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: `${service.url}${path}` });
    const token = service.signInAs({});
    const sessions = app.app.get(SessionAuthService);
    await app.get('/me', token);
    await sessions.signIn({ username: 'ann', password: 'wrong' }).catch(() => undefined);
    await sessions.signOut(token);

    expect(service.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
      `GET ${prefix}/authentication/user_details`,
      `POST ${prefix}/authentication`,
      `DELETE ${prefix}/authentication`,
    ]);
  });

  it('may be a URL object', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: new URL('/api/', service.url) });
    await app.get('/me', service.signInAs({}));

    expect(service.requests[0]?.path).toBe('/api/authentication/user_details');
  });

  const warnings = async (baseUrl: string, environment: string): Promise<number> => {
    const logger = new CapturedLog();
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = environment;
    try {
      await bed.sample({ baseUrl, options: { apiKey: 'the-secret-key' } }, { logger });
    } finally {
      process.env.NODE_ENV = before;
    }
    expect(logger.lines.join('\n')).not.toContain('the-secret-key');
    return logger.having('warn', 'plain text').length;
  };

  it.each(['http://sessions.example.com', 'http://10.0.0.1/api', 'http://localhost.example.com'])(
    'earns one warning in production when %s is not encrypted',
    async (baseUrl) => {
      expect(await warnings(baseUrl, 'production')).toBe(1);
    },
  );

  it.each([
    ['https://sessions.example.com', 'production'],
    ['http://localhost:3000', 'production'],
    ['http://127.0.0.1:3000', 'production'],
    ['http://[::1]:3000', 'production'],
    ['http://sessions.example.com', 'development'],
  ])('earns no warning: %s in %s', async (baseUrl, environment) => {
    expect(await warnings(baseUrl, environment)).toBe(0);
  });
});
