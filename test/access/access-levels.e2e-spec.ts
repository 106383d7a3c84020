import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  UseGuards,
  Req,
  type Type,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import {
  Authorize,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SubRoles,
  AuthToken,
  CurrentUser,
  type UserRecord,
} from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';
import { sendRaw } from '../support/raw-request.js';
import { drop, reply } from '../support/scripted-service.js';

type Level = ClassDecorator & MethodDecorator;

/** Decorators of a handler or of its controller. */
const LEVELS = {
  none: () => [],
  Public: () => [Public()],
  OptionalAuth: () => [OptionalAuth()],
  Roles: () => [Roles('boss')],
  SubRoles: () => [SubRoles('approver')],
  Authorize: () => [Authorize(({ client_name: client }) => client === 'acme')],
  'Public+Roles': () => [Public(), Roles('boss')],
  'OptionalAuth+Roles': () => [OptionalAuth(), Roles('boss')],
} satisfies Record<string, () => Level[]>;

type LevelName = keyof typeof LEVELS;

/** The signed-in callers; a stranger has no token. */
const USERS = {
  plain: {},
  boss: { role: 'boss' },
  approver: { sub_role: 'approver' },
  acme: { client_name: 'acme' },
  all: { role: 'boss', sub_role: 'approver', client_name: 'acme' },
} as const;

const EVERYONE = 'stranger plain boss approver acme all';
const SIGNED_IN = 'plain boss approver acme all';

const ON_HANDLER: [handler: LevelName, controller: LevelName, admitted: string][] = [
  ...inEach('Public', EVERYONE),
  ...inEach('OptionalAuth', EVERYONE),
  ['none', 'none', SIGNED_IN],
  ['none', 'Public', EVERYONE],
  ['none', 'OptionalAuth', EVERYONE],
  ['none', 'Roles', 'boss all'],
  ['none', 'SubRoles', 'approver all'],
  ['none', 'Authorize', 'acme all'],
  ['none', 'Public+Roles', 'boss all'],
  ['none', 'OptionalAuth+Roles', 'boss all'],
  ...['none', 'Public', 'OptionalAuth', 'Roles', 'Public+Roles', 'OptionalAuth+Roles'].map(
    (controller): [LevelName, LevelName, string] => ['Roles', controller as LevelName, 'boss all'],
  ),
  ['Roles', 'SubRoles', 'all'],
  ['Roles', 'Authorize', 'all'],
  ['SubRoles', 'none', 'approver all'],
  ['SubRoles', 'Roles', 'all'],
  ['Authorize', 'Public', 'acme all'],
  ['Authorize', 'Roles', 'all'],
  ['Public+Roles', 'none', 'boss all'],
  ['Public+Roles', 'Public', 'boss all'],
  ['OptionalAuth+Roles', 'none', 'boss all'],
  ['OptionalAuth+Roles', 'Public', 'boss all'],
];

function inEach(handler: LevelName, admitted: string): [LevelName, LevelName, string][] {
  return (Object.keys(LEVELS) as LevelName[]).map((controller) => [handler, controller, admitted]);
}

/** The path of the controller with these levels, among those of all pairs. */
const pathOf = (handler: LevelName, controller: LevelName): string =>
  `${handler}-${controller}`.replaceAll('+', '-');

/**
 * A guarded controller with these decorators, and with these on its one handler, in the order in which they
 * are read.
 */
function controllerWith(handler: Level[], controller: Level[], path = ''): Type {
  @UseGuards(SessionAuthGuard)
  @Controller(path)
  class Doors {
    @Get('door')
    enter(): string {
      return 'entered';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Doors.prototype, 'enter');
  for (const decorate of handler) decorate(Doors.prototype, 'enter', descriptor ?? {});
  for (const decorate of controller) decorate(Doors);
  return Doors;
}

describe.each(platforms('Express'))('the access rule of a handler on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = ON_HANDLER.map(([handler, controller]) =>
    controllerWith(LEVELS[handler](), LEVELS[controller](), pathOf(handler, controller)),
  );
  const shared = sharedSample({ controllers }, platform);

  it.each(ON_HANDLER)(
    'with %s on the handler and %s on its controller admits: %s',
    async (handler, controller, admitted) => {
      const { service, app } = shared;
      const path = `/${pathOf(handler, controller)}/door`;
      const statuses: Record<string, number> = { stranger: (await app.get(path)).status };
      for (const [name, record] of Object.entries(USERS))
        statuses[name] = (await app.get(path, service.signInAs(record))).status;

      expect(
        Object.keys(statuses)
          .filter((name) => statuses[name] === 200)
          .join(' '),
      ).toBe(admitted);
      const refused = Object.entries(statuses).filter(([, status]) => status !== 200);
      expect(refused).toEqual(refused.map(([name]) => [name, name === 'stranger' ? 401 : 403]));
    },
  );

  it.each(['Public', 'OptionalAuth'] as const)('makes no call for @%s without a token', async (handler) => {
    await shared.app.get(`/${pathOf(handler, 'none')}/door`);

    expect(shared.service.requests).toHaveLength(0);
  });

  it('does not depend on the order of its decorators', async () => {
    const service = await bed.service();
    const orders = [() => [Roles('boss'), Public()], () => [Public(), Roles('boss')]];

    for (const order of orders) {
      const app = await bed.sample({ baseUrl: service.url, controllers: [controllerWith(order(), [])] });
      expect((await app.get('/door')).status).toBe(401);
      expect((await app.get('/door', service.signInAs({}))).status).toBe(403);
    }
  });
});

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

describe.each(platforms('Express'))('@OptionalAuth on %s', (_name, platform) => {
  const bed = testbed(platform);
  const shared = sharedSample({ controllers: [NewsController] }, platform);

  it('provides the user of a valid session', async () => {
    const { service, app } = shared;
    const token = service.signInAs({ username: 'ann' });

    expect(await (await app.get('/news', token)).json()).toEqual({ anonymous: false, name: 'ann', token });
  });

  it.each([
    ['no token', [], 0],
    ['a refused token', ['X-AUTH-TOKEN: bad'], 1],
    ['two tokens', ['X-AUTH-TOKEN: good', 'X-AUTH-TOKEN: good'], 0],
    ['a good token with a malformed IV', ['X-AUTH-TOKEN: good', 'X-AUTH-IV: i v'], 0],
  ])(
    'lets a caller with %s in as anonymous, and removes any earlier user from the request',
    async (_case, lines, calls) => {
      const { service, app } = shared;
      service.signInAs({}, 'good');
      const answer = await sendRaw(app.url, { path: '/news', lines });

      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body)).toEqual({ anonymous: true });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.has('www-authenticate')).toBe(false);
      expect(service.callsTo('user_details')).toBe(calls);
    },
  );

  it.each([
    ['is out of order', reply(500), 503],
    ['drops the connection', drop, 503],
    ['answers without a user', reply(200, '{}'), 503],
    ['refuses the application', reply(403), 403],
  ])('does not let a caller in as anonymous if the service %s', async (_case, script, status) => {
    const service = await bed.service();
    service.on('user_details', script);
    const app = await bed.sample({ baseUrl: service.url, controllers: [NewsController] });

    expect((await app.get('/news', 'token')).status).toBe(status);
  });
});
