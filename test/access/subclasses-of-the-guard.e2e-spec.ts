import { describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  Controller,
  Get,
  Injectable,
  Module,
  Req,
  UnauthorizedException,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  AuthToken,
  Authorize,
  CurrentUser,
  FreshSession,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  type UserRecord,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

interface OwnRequest {
  user?: unknown;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Replaces the record by the application's own user, as applications do whose guard was their own. */
@Injectable()
class StaffGuard extends SessionAuthGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const isAdmitted = await super.canActivate(context);
    const request = context.switchToHttp().getRequest<OwnRequest>();
    const { username } = (request.user ?? {}) as UserRecord;
    if (username !== undefined) request.user = { id: 7, name: username };
    return isAdmitted;
  }
}

const ROBOT = { username: 'robot', role: 'hiring_manager' };
/** A key may have no record in what an application reads, whatever its types say. */
const KEYS = new Map<string, unknown>([
  ['robot', ROBOT],
  ['unknown', undefined],
]);

/** Admits callers with a key of the application, beside those with a session. */
@Injectable()
class KeyOrSessionGuard extends SessionAuthGuard {
  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const key = context.switchToHttp().getRequest<OwnRequest>().headers['x-application-key'];
    if (key === undefined) return super.canActivate(context);
    if (!KEYS.has(key)) throw new UnauthorizedException();
    return this.admitAs(context, KEYS.get(key) as UserRecord);
  }
}

@Controller()
class OwnController {
  @Get('plain')
  plain(@Req() { user }: OwnRequest, @CurrentUser() current: UserRecord): unknown[] {
    return [user, user === current];
  }

  @Get('ruled')
  @Roles('hiring_manager')
  ruled(@Req() { user }: OwnRequest, @CurrentUser() current: UserRecord): unknown[] {
    return [user, user === current];
  }

  @Get('other-role')
  @Roles('new_hire')
  otherRole(): string {
    return 'in';
  }

  @Get('policy')
  @Authorize(({ username }) => Promise.resolve(username === 'robot'))
  policy(@AuthToken() token: string | undefined): unknown[] {
    return [token ?? null];
  }

  @Get('fresh') @FreshSession() fresh(): string {
    return 'in';
  }

  @Get('optional') @OptionalAuth() optional(@CurrentUser() user: UserRecord | undefined): unknown {
    return { user };
  }

  @Get('public') @Public() open(@CurrentUser() user: UserRecord | undefined): unknown {
    return { user };
  }
}

@Injectable()
class OtherGuard {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<OwnRequest>().user !== undefined;
  }
}

/** Leaves the key only to callers that have come by the gateway, before the guard that reads it. */
@Injectable()
class GatewayGuard {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['x-gateway'] === undefined) delete headers['x-application-key'];
    return true;
  }
}

const withKey = (): ClassDecorator & MethodDecorator => UseGuards(KeyOrSessionGuard);

@Controller('orders')
class OrdersController {
  @Get('above') @withKey() @Roles('hiring_manager') above(): string {
    return 'in';
  }

  @Get('below') @Roles('hiring_manager') @withKey() below(): string {
    return 'in';
  }

  @Get('applied') @applyDecorators(withKey(), Roles('hiring_manager')) applied(): string {
    return 'in';
  }

  @Get('after') @UseGuards(OtherGuard) @withKey() @Roles('hiring_manager') after(): string {
    return 'in';
  }

  @Get('other-role') @withKey() @Roles('new_hire') otherRole(): string {
    return 'in';
  }

  @Get('relying-above')
  @UseGuards(GatewayGuard, KeyOrSessionGuard)
  @Roles('hiring_manager')
  relyingAbove(): string {
    return 'in';
  }

  @Get('relying-below')
  @Roles('hiring_manager')
  @UseGuards(GatewayGuard, KeyOrSessionGuard)
  relyingBelow(): string {
    return 'in';
  }
}

@Controller('class-above')
@withKey()
@Roles('hiring_manager')
class ClassAbove {
  @Get() list(): string {
    return 'in';
  }
}

@Controller('subclass')
@withKey()
class OfRuledClass extends ClassAbove {}

@withKey()
@Roles('hiring_manager')
class RuledBase {
  @Get() list(): string {
    return 'in';
  }
}

@Controller('base')
class OfRuledBase extends RuledBase {}

@Controller('ruled-in-ruled')
@Roles('hiring_manager')
class KeyBelowRuledClass {
  @Get() @withKey() list(): string {
    return 'in';
  }
}

@Controller('partner')
@UseGuards(SessionAuthGuard)
class PartnerController {
  @Get() partner(@Req() { user }: OwnRequest, @CurrentUser() current: UserRecord): unknown[] {
    return [user, user === current];
  }
}

@Module({})
class Root {}
@Module({})
class Partners {}

describe.each(PLATFORMS)('a subclass of the guard for the whole application on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function appWith(guard: typeof SessionAuthGuard) {
    const service = await bed.service();
    const app = await bed.sample({
      baseUrl: service.url,
      controllers: [OwnController],
      providers: [{ provide: APP_GUARD, useClass: guard }],
      options: { audit: 'off' },
    });
    const token = service.signInAs({ username: 'ann', role: 'hiring_manager' });
    const answer = async (
      path: string,
      headers: Record<string, string> = {},
      own?: string,
    ): Promise<unknown> => {
      const reply = await app.get(path, own, headers);
      return reply.status === 200 ? reply.text() : reply.status;
    };
    return { service, token, answer };
  }

  it('sets a user of its own, and so does a handler whose rule applies the guard again [P41]', async () => {
    const { answer, token, service } = await appWith(StaffGuard);
    const ann = JSON.stringify([{ id: 7, name: 'ann' }, true]);
    for (const path of ['/plain', '/ruled']) expect(await answer(path, {}, token)).toBe(ann);
    expect(await always(() => answer('/other-role', {}, token))).toBe(403);
    expect(await answer('/ruled', {}, service.signInAs({ username: 'bob' }))).toBe(403);
    expect(await answer('/ruled')).toBe(401);
  });

  it('admits by another way, and rules are checked on the record that it admitted [P41]', async () => {
    const { answer, token } = await appWith(KeyOrSessionGuard);
    const robot = { 'x-application-key': 'robot' };
    for (const path of ['/plain', '/ruled']) {
      expect(await answer(path, robot)).toBe(JSON.stringify([ROBOT, true]));
      expect(await answer(path, {}, token)).toContain('"ann"');
      expect(await always(() => answer(path))).toBe(401);
      expect(await answer(path, { 'x-application-key': 'guess' }, token)).toBe(401);
    }
    expect(await always(() => answer('/other-role', robot))).toBe(403);
    expect([await answer('/policy', robot), await answer('/policy', {}, token)]).toEqual(['[null]', 403]);
    expect([await answer('/fresh', robot), await answer('/optional', robot)]).toEqual([
      'in',
      JSON.stringify({ user: ROBOT }),
    ]);
    expect(await answer('/public', robot)).toBe('{}');
  });

  async function appOfPartners(guard: typeof SessionAuthGuard) {
    const service = await bed.service();
    const options = { baseUrl: service.url, apiKey: 'key' };
    const app = await bed.app({
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ ...options, audit: 'off' }),
        {
          module: Partners,
          imports: [
            SessionAuthModule.forRoot({
              ...options,
              isGlobal: false,
              loadUser: ({ username }) => ({ username }),
            }),
          ],
          controllers: [PartnerController],
        },
      ],
      controllers: [OwnController],
      providers: [{ provide: APP_GUARD, useClass: guard }],
    });
    return { service, app };
  }

  it('keeps the user that it sets, whichever registration checks the handler', async () => {
    const { app, service } = await appOfPartners(StaffGuard);
    const token = service.signInAs({ username: 'ann', role: 'hiring_manager' });
    for (const path of ['/ruled', '/partner'])
      expect(await (await app.get(path, token)).json()).toEqual([{ id: 7, name: 'ann' }, true]);
  });

  it('admits by another way whichever registration checks the handler, which needs a session otherwise', async () => {
    const { app, service } = await appOfPartners(KeyOrSessionGuard);
    const robot = { 'x-application-key': 'robot' };
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await app.get(path, undefined, headers)).status;
    expect(await (await app.get('/ruled', undefined, robot)).json()).toEqual([ROBOT, true]);
    expect(await (await app.get('/partner', undefined, robot)).json()).toEqual([{ username: 'robot' }, true]);
    expect(await always(() => statusOf('/other-role', robot))).toBe(403);
    for (const path of ['/ruled', '/partner']) expect(await always(() => statusOf(path))).toBe(401);
    expect(service.requests).toHaveLength(0);
  });

  it('checks the session of a caller for whom it has found no record', async () => {
    const { answer, token } = await appWith(KeyOrSessionGuard);
    const unknown = { 'x-application-key': 'unknown' };
    for (const path of ['/plain', '/ruled']) {
      expect(await always(() => answer(path, unknown))).toBe(401);
      expect(await answer(path, unknown, token)).toContain('"ann"');
    }
  });

  it.each(['orders/above', 'orders/applied', 'orders/other-role', 'base'])(
    'admits by another way also on %s, whichever decorator is above [P70]',
    async (path) => {
      const service = await bed.service();
      const controllers = [OrdersController, ClassAbove, OfRuledClass, OfRuledBase];
      const app = await bed.sample({ baseUrl: service.url, controllers });
      const token = service.signInAs({ username: 'ann', role: 'hiring_manager' });
      const statuses = [
        await app.get(`/${path}`, undefined, { 'x-application-key': 'robot' }),
        await app.get(`/${path}`, token),
        await app.get(`/${path}`, service.signInAs({ role: 'clerk' })),
        await app.get(`/${path}`),
        await app.get(`/${path}`, token, { 'x-application-key': 'guess' }),
      ].map(({ status }) => status);
      const admitted = path === 'orders/other-role' ? 403 : 200;
      expect(statuses).toEqual([admitted, admitted, 403, 401, 401]);
    },
  );

  it.each(['orders/relying-above', 'orders/relying-below'])(
    'runs after the guards that the application has put before it on %s [P70]',
    async (path) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers: [OrdersController] });
      const statuses = [
        await app.get(`/${path}`, undefined, { 'x-application-key': 'robot', 'x-gateway': 'yes' }),
        await app.get(`/${path}`, undefined, { 'x-application-key': 'robot' }),
        await app.get(`/${path}`, service.signInAs({ role: 'hiring_manager' })),
      ].map(({ status }) => status);
      expect(statuses).toEqual([200, 401, 200]);
    },
  );

  it('admits no caller by a key below a rule of the class, whose guard runs first [P70]', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [KeyBelowRuledClass] });
    const statuses = [
      await app.get('/ruled-in-ruled', undefined, { 'x-application-key': 'robot' }),
      await app.get('/ruled-in-ruled', service.signInAs({ role: 'hiring_manager' })),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 200]);
  });

  it('admits no caller by a key below protectAllRoutes, whose guard runs first [P70]', async () => {
    const service = await bed.service();
    const controllers = [OrdersController, ClassAbove];
    const app = await bed.sample({ baseUrl: service.url, controllers, options: { protectAllRoutes: true } });
    const token = service.signInAs({ role: 'hiring_manager' });
    for (const path of ['/orders/above', '/orders/below', '/orders/after', '/class-above']) {
      expect((await app.get(path, undefined, { 'x-application-key': 'robot' })).status).toBe(401);
      expect((await app.get(path, token)).status).toBe(200);
    }
  });
});
