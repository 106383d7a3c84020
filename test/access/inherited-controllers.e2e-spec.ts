import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@UseGuards(SessionAuthGuard)
@Roles('boss')
abstract class BaseController {
  @Get('list')
  list(): string {
    return 'list';
  }

  @Get('item')
  @Roles('clerk')
  item(): string {
    return 'item';
  }

  @Get('about')
  @Public()
  about(): string {
    return 'about';
  }
}

@Controller('plain')
class PlainController extends BaseController {}

@Controller('strict')
@Roles('admin')
class StrictController extends BaseController {}

@Controller('open')
@Public()
class OpenController extends BaseController {}

@Controller('rewritten')
class RewrittenController extends BaseController {
  @Get('item')
  override item(): string {
    return 'rewritten';
  }
}

describe.each(PLATFORMS)('a controller that extends another on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [PlainController, StrictController, OpenController, RewrittenController];

  it.each([
    ['/plain/list', 'boss'],
    ['/plain/item', 'clerk'],
    ['/strict/list', 'admin'],
    ['/strict/item', 'clerk'],
    ['/open/list', 'boss'],
    ['/open/item', 'clerk'],
    ['/rewritten/list', 'boss'],
    ['/rewritten/item', 'boss'],
  ])('admits at %s only the role %s', async (path, admitted) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const roles = ['boss', 'clerk', 'admin'];
    const statuses = await Promise.all(roles.map(async (role) => (await app.get(path, service.signInAs({ role }, role))).status));

    expect(roles.filter((_role, index) => statuses[index] === 200)).toEqual([admitted]);
    expect((await app.get(path)).status).toBe(401);
  });

  it.each(['/plain/about', '/strict/about', '/open/about'])('keeps the public handlers that it inherits: %s', async (path) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });

    expect((await app.get(path)).status).toBe(200);
    expect(service.requests).toHaveLength(0);
  });

  it('leaves the one it extends as it was', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const admin = service.signInAs({ role: 'admin' });

    expect((await app.get('/strict/list', admin)).status).toBe(200);
    expect((await app.get('/plain/list', admin)).status).toBe(403);
  });
});
