import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Header, NotFoundException, UseGuards, type INestApplication } from '@nestjs/common';
import {
  fromBearer,
  fromCookie,
  fromHeader,
  Public,
  Roles,
  SessionAuthGuard,
  type TokenSource,
} from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { reply as answer } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { reply } from 'nestjs-session-auth/testing';

@Controller()
@UseGuards(SessionAuthGuard)
class PagesController {
  @Get('cached')
  @Header('Cache-Control', 'private, max-age=60')
  cached(): string {
    return 'cached';
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }

  @Get('admins')
  @Roles('admin')
  admins(): string {
    return 'admins';
  }

  @Get('public')
  @Public()
  public(): string {
    return 'public';
  }
}

describe.each(PLATFORMS)('the headers of a reply on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [PagesController, MeController];

  it.each([
    ['/me', 'good', 200],
    ['/me', undefined, 401],
    ['/me', 'bad', 401],
    ['/me', 'not one', 401],
    ['/admins', 'good', 403],
    ['/missing', 'good', 404],
  ])('keep %s with token %p (%p) out of every cache', async (path, token, status) => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const reply = await app.get(path, token);

    expect(reply.status).toBe(status);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('vary')?.toUpperCase()).toBe('X-AUTH-TOKEN');
    expect(reply.headers.has('www-authenticate')).toBe(status === 401);
    expect(reply.headers.has('retry-after')).toBe(false);
  });

  it('keep a 503 out of every cache, and have a Retry-After', async () => {
    const service = await bed.service();
    service.on('user_details', answer(500));
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const reply = await app.get('/me', 'token');

    expect(reply.status).toBe(503);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('vary')?.toUpperCase()).toBe('X-AUTH-TOKEN');
    expect(reply.headers.get('retry-after')).toMatch(/^([1-9]|[1-9]\d|1[01]\d|120)$/);
    expect(reply.headers.has('www-authenticate')).toBe(false);
    expect(await reply.json()).toEqual({
      statusCode: 503,
      code: 'SESSION_SERVICE_UNAVAILABLE',
      error: 'Service Unavailable',
      message: 'The session service is unavailable; try again later',
      retryAfterSeconds: Number(reply.headers.get('retry-after')),
    });
  });

  it('leave a handler its own Cache-Control', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });

    expect((await app.get('/cached', service.signInAs({}))).headers.get('cache-control')).toBe(
      'private, max-age=60',
    );
    expect((await app.get('/cached', 'bad')).headers.get('cache-control')).toBe('no-store');
  });

  it('do not mention tokens on a public route', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const reply = await app.get('/public', 'token');

    expect(reply.status).toBe(200);
    expect(reply.headers.has('cache-control')).toBe(false);
    expect(reply.headers.has('vary')).toBe(false);
    expect(service.requests).toHaveLength(0);
  });

  const corsForOne = (app: INestApplication): void => app.enableCors({ origin: ['https://a.example'] });

  it('add the token to a Vary that the reply already has', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url }, { configure: corsForOne });

    for (const token of [service.signInAs({}), undefined, 'bad']) {
      const reply = await app.get('/me', token, { origin: 'https://a.example' });
      expect(
        reply.headers
          .get('vary')
          ?.toLowerCase()
          .split(/\s*,\s*/)
          .sort(),
      ).toEqual(['origin', 'x-auth-token']);
    }
  });

  it.each<[string, TokenSource[]]>([
    ['authorization', [fromBearer()]],
    ['cookie', [fromCookie('sid')]],
    ['x-session', [fromHeader('X-Session')]],
    ['authorization, cookie', [fromBearer(), fromCookie('sid'), fromCookie('old')]],
  ])('name the header of the token source: %s', async (vary, token) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { token } });

    expect((await app.get('/me')).headers.get('vary')?.toLowerCase()).toBe(vary);
  });

  it('name the token once if several guards run', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { protectAllRoutes: true } });

    expect((await app.get('/me', service.signInAs({}))).headers.get('vary')?.toUpperCase()).toBe(
      'X-AUTH-TOKEN',
    );
  });
});

const ORIGIN = 'https://app.example.com';
const EXPOSED = ['retry-after', 'www-authenticate'];

function listed(response: Response, header: string): string[] {
  return (response.headers.get(header) ?? '').toLowerCase().split(/,\s*/).sort();
}

describe.each(PLATFORMS)('a page of another origin, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start(cors: { readonly allowedHeaders?: string[]; readonly exposedHeaders?: string[] }) {
    const service = await bed.service();
    const sample = { baseUrl: service.url, options: { retry: false as const } };
    const app = await bed.sample(sample, {
      configure: (nest) => nest.enableCors({ origin: ORIGIN, ...cors }),
    });
    return { service, app };
  }

  it('may read the headers of denials that exposedHeaders names', async () => {
    const { service, app } = await start({ exposedHeaders: EXPOSED });
    service.on('user_details', reply(503));
    const denials = [
      await app.get('/me', undefined, { origin: ORIGIN }),
      await app.get('/me', 'token', { origin: ORIGIN }),
    ];

    expect(denials.map(({ status }) => status)).toEqual([401, 503]);
    for (const denial of denials) {
      expect(denial.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(listed(denial, 'access-control-expose-headers')).toEqual(EXPOSED);
    }
    expect([denials[0]?.headers.has('www-authenticate'), denials[1]?.headers.has('retry-after')]).toEqual([
      true,
      true,
    ]);
  });

  it.each<[string, string[] | undefined]>([
    ['by default', undefined],
    ['if allowedHeaders names them', ['content-type', 'x-auth-token', 'x-auth-iv']],
  ])(
    'may send the headers of a session %s, and its preflight makes no call',
    async (_case, allowedHeaders) => {
      const { service, app } = await start(allowedHeaders ? { allowedHeaders } : {});
      const headers = {
        origin: ORIGIN,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-auth-iv,x-auth-token',
      };
      const preflight = await fetch(`${app.url}/me`, { method: 'OPTIONS', headers });

      expect(preflight.status).toBe(204);
      expect(listed(preflight, 'access-control-allow-headers')).toEqual(
        expect.arrayContaining(['x-auth-iv', 'x-auth-token']),
      );
      expect(service.requests).toEqual([]);
    },
  );
});
