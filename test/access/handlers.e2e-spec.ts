import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Roles, SessionAuthGuard, Public } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

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
  const controllers = [PlainController, StrictController, OpenController, RewrittenController];
  const shared = sharedSample({ controllers }, platform);

  it.each([
    ['/plain/list', 'boss'],
    ['/strict/list', 'admin'],
    ['/strict/item', 'clerk'],
    ['/open/list', 'boss'],
    ['/open/item', 'clerk'],
    ['/rewritten/item', 'boss'],
  ])('admits at %s only the role %s', async (path, admitted) => {
    const { service, app } = shared;
    const roles = ['boss', 'clerk', 'admin'];
    const statuses = await Promise.all(
      roles.map(async (role) => (await app.get(path, service.signInAs({ role }, role))).status),
    );

    expect(roles.filter((_role, index) => statuses[index] === 200)).toEqual([admitted]);
    expect((await app.get(path)).status).toBe(401);
  });

  it('keeps the public handlers that it inherits', async () => {
    expect((await shared.app.get('/strict/about')).status).toBe(200);
  });
});
