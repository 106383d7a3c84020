import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Header, NotFoundException, UseGuards } from '@nestjs/common';
import { Public, SessionAuthGuard } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { sharedSample } from '../support/shared-sample.js';

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
  const shared = sharedSample({ controllers: [PagesController, MeController] }, platform);

  it.each([
    ['/me', 'bad', 401],
    ['/missing', 'good', 404],
  ])('keep %s with token %p (%p) out of every cache', async (path, token, status) => {
    shared.service.signInAs({}, 'good');
    const reply = await shared.app.get(path, token);

    expect(reply.status).toBe(status);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('vary')?.toUpperCase()).toBe('X-AUTH-TOKEN');
    expect(reply.headers.has('www-authenticate')).toBe(status === 401);
    expect(reply.headers.has('retry-after')).toBe(false);
  });

  it('leave a handler its own Cache-Control', async () => {
    const { service, app } = shared;
    expect((await app.get('/cached', service.signInAs({}))).headers.get('cache-control')).toBe(
      'private, max-age=60',
    );
    expect((await app.get('/cached', 'bad')).headers.get('cache-control')).toBe('no-store');
  });

  it('do not mention tokens on a public route', async () => {
    const reply = await shared.app.get('/public', 'token');

    expect(reply.status).toBe(200);
    expect(reply.headers.has('cache-control')).toBe(false);
    expect(reply.headers.has('vary')).toBe(false);
    expect(shared.service.requests).toHaveLength(0);
  });
});
