import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import { CurrentUser, Roles, SessionAuthGuard, Public, type UserRecord } from 'nestjs-session-auth';
import { from, type Observable } from 'rxjs';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';

let runs = 0;

@Controller()
@UseGuards(SessionAuthGuard)
class StreamsController {
  @Sse('events')
  events(@CurrentUser() user: UserRecord): Observable<MessageEvent> {
    runs += 1;
    return from([{ data: `${user.username} 1` }, { data: `${user.username} 2` }]);
  }
}

describe.each(PLATFORMS)('on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('a stream of events begins for a valid session only', async () => {
    runs = 0;
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [StreamsController] });
    const statusOf = async (token?: string): Promise<number> =>
      (await app.get('/events', token, { accept: 'text/event-stream' })).status;
    for (const token of [undefined, 'bad']) expect(await always(() => statusOf(token))).toBe(401);
    expect(runs).toBe(0);

    const stream = await app.get('/events', service.signInAs({}), { accept: 'text/event-stream' });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await stream.text()).match(/data: .*/g)).toEqual(['data: ann 1', 'data: ann 2']);
  });
});

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
