import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthToken, CurrentUser, OptionalAuth, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { drop, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

class ImpostorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user?: unknown }>().user = { username: 'impostor' };
    return true;
  }
}

@Controller()
@UseGuards(ImpostorGuard, SessionAuthGuard)
@OptionalAuth()
class NewsController {
  @Get('news')
  news(
    @Req() request: { user?: unknown },
    @CurrentUser() user: UserRecord | undefined,
    @CurrentUser('username') name: string | undefined,
    @AuthToken() token: string | undefined,
  ) {
    return { anonymous: user === undefined && request.user === undefined, name, token };
  }
}

describe.each(PLATFORMS)('@OptionalAuth on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [NewsController];

  it('knows the user of a valid session', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const token = service.signInAs({ username: 'ann' });

    expect(await (await app.get('/news', token)).json()).toEqual({ anonymous: false, name: 'ann', token });
  });

  it.each([
    ['no token', [], 0],
    ['an empty token', ['X-AUTH-TOKEN:'], 0],
    ['a refused token', ['X-AUTH-TOKEN: bad'], 1],
    ['a malformed token', ['X-AUTH-TOKEN: b d'], 0],
    ['two tokens', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: good'], 0],
    ['a good token with a malformed IV', ['X-AUTH-TOKEN: good', 'X-AUTH-IV: i v'], 0],
  ])('lets a caller with %s in as nobody, whatever user stood in the request', async (_case, lines, calls) => {
    const service = await bed.service();
    service.signInAs({}, 'good');
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const answer = await sendRaw(app.url, { path: '/news', lines });

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ anonymous: true });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.has('www-authenticate')).toBe(false);
    expect(service.callsTo('user_details')).toBe(calls);
  });

  it.each([
    ['is out of order', reply(500), 503],
    ['drops the connection', drop, 503],
    ['answers what is no user', reply(200, '{}'), 503],
    ['refuses the application', reply(403), 403],
  ])('does not take a caller for nobody when the service %s', async (_case, script, status) => {
    const service = await bed.service();
    service.on('user_details', script);
    const app = await bed.sample({ baseUrl: service.url, controllers });

    expect((await app.get('/news', 'token')).status).toBe(status);
  });
});
