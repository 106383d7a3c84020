import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Header, NotFoundException, UseGuards, type INestApplication } from '@nestjs/common';
import { Public, SessionAuthGuard } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

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
    ['/me', 'bad', 401],
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

describe.each(PLATFORMS)('a page of another origin, on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('may read the headers of denials that exposedHeaders names', async () => {
    const service = await bed.service();
    const app = await bed.sample(
      { baseUrl: service.url, options: { retry: false } },
      { configure: (nest) => nest.enableCors({ origin: ORIGIN, exposedHeaders: EXPOSED }) },
    );
    service.on('user_details', reply(503));
    const denials = [
      await app.get('/me', undefined, { origin: ORIGIN }),
      await app.get('/me', 'token', { origin: ORIGIN }),
    ];

    expect(denials.map(({ status }) => status)).toEqual([401, 503]);
    for (const denial of denials) {
      expect(denial.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(denial.headers.get('access-control-expose-headers')?.split(/,\s*/)).toEqual(EXPOSED);
    }
    expect([denials[0]?.headers.has('www-authenticate'), denials[1]?.headers.has('retry-after')]).toEqual([
      true,
      true,
    ]);
  });
});
