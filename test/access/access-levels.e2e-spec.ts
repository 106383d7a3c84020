import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, Req, type Type, type ExecutionContext } from '@nestjs/common';
import {
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SubRoles,
  AuthToken,
  CurrentUser,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';
import { reply } from '../support/scripted-service.js';

/** Decorators of a handler or of its controller. */
const LEVELS = {
  none: [],
  Public: [Public()],
  OptionalAuth: [OptionalAuth()],
  Roles: [Roles('boss')],
  SubRoles: [SubRoles('approver')],
  'Public+Roles': [Public(), Roles('boss')],
} satisfies Record<string, (ClassDecorator & MethodDecorator)[]>;

type LevelName = keyof typeof LEVELS;

/** The signed-in callers; a stranger has no token. */
const USERS = {
  plain: {},
  boss: { role: 'boss' },
  approver: { sub_role: 'approver' },
  both: { role: 'boss', sub_role: 'approver' },
} as const;

const SIGNED_IN = 'plain boss approver both';
const EVERYONE = `stranger ${SIGNED_IN}`;

const ON_HANDLER: [handler: LevelName, controller: LevelName, admitted: string][] = [
  ['none', 'none', SIGNED_IN],
  ['none', 'Public', EVERYONE],
  ['none', 'OptionalAuth', EVERYONE],
  ['none', 'Public+Roles', 'boss both'],
  ['Public', 'Roles', EVERYONE],
  ['OptionalAuth', 'Roles', EVERYONE],
  ['Roles', 'Public', 'boss both'],
  ['Roles', 'SubRoles', 'both'],
];

const pathOf = (handler: LevelName, controller: LevelName): string =>
  `${handler}-${controller}`.replaceAll('+', '-');

/** A guarded controller with these decorators, and with these on its one handler. */
function controllerWith(handler: LevelName, controller: LevelName): Type {
  @UseGuards(SessionAuthGuard)
  @Controller(pathOf(handler, controller))
  class Doors {
    @Get('door') enter(): string {
      return 'entered';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Doors.prototype, 'enter');
  for (const decorate of LEVELS[handler]) decorate(Doors.prototype, 'enter', descriptor ?? {});
  for (const decorate of LEVELS[controller]) decorate(Doors);
  return Doors;
}

const ImpostorGuard = {
  canActivate: (context: ExecutionContext): boolean => {
    context.switchToHttp().getRequest<{ user?: unknown }>().user = { username: 'impostor' };
    return true;
  },
};

@Controller()
@UseGuards(ImpostorGuard, SessionAuthGuard)
@OptionalAuth()
class NewsController {
  @Get('news')
  news(
    @Req() request: { user?: unknown },
    @CurrentUser('username') name: string | undefined,
    @AuthToken() token: string | undefined,
  ) {
    return { anonymous: request.user === undefined, name, token };
  }
}

describe.each(platforms('Express'))('the access rule of a handler on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = ON_HANDLER.map(([handler, controller]) => controllerWith(handler, controller));
  const shared = sharedSample({ controllers: [...controllers, NewsController] }, platform);

  it.each(ON_HANDLER)(
    'with %s on the handler and %s on its controller admits: %s',
    async (handler, controller, admitted) => {
      const { service, app } = shared;
      const path = `/${pathOf(handler, controller)}/door`;
      const statuses: Record<string, number> = { stranger: (await app.get(path)).status };
      for (const [name, record] of Object.entries(USERS))
        statuses[name] = (await app.get(path, service.signInAs(record))).status;
      const expected = ['stranger', ...Object.keys(USERS)].map((name) => {
        const denial = name === 'stranger' ? 401 : 403;
        return [name, admitted.split(' ').includes(name) ? 200 : denial];
      });

      expect(statuses).toEqual(Object.fromEntries(expected));
    },
  );

  it('with @OptionalAuth() admits a caller without a valid session, and removes any earlier user from the request', async () => {
    const { service, app } = shared;
    const token = service.signInAs({ username: 'ann' });
    expect(await (await app.get('/news', token)).json()).toEqual({ anonymous: false, name: 'ann', token });

    for (const presented of [undefined, 'bad', 'go od']) {
      const reply = await app.get('/news', presented);
      expect([reply.status, await reply.json()]).toEqual([200, { anonymous: true }]);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.has('www-authenticate')).toBe(false);
    }
  });

  it('with @OptionalAuth() admits nobody as anonymous while the service is out of order', async () => {
    const service = await bed.serviceThat(reply(500));
    const app = await bed.sample({ baseUrl: service.url, controllers: [NewsController] });
    expect(await always(async () => (await app.get('/news', 'token')).status)).toBe(503);
  });
});
