import { describe, expect, it } from '@jest/globals';
import {
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
import { sharedSample, type SharedSample } from '../support/shared-sample.js';
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

  @Get('ruled') @Roles('hiring_manager') ruled(
    @Req() { user }: OwnRequest,
    @CurrentUser() current: UserRecord,
  ): unknown[] {
    return [user, user === current];
  }

  @Get('other-role') @Roles('new_hire') otherRole(): string {
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
const relying = UseGuards(GatewayGuard, KeyOrSessionGuard);
const ROBOT_KEY = { 'x-application-key': 'robot' };
const GUESSED_KEY = { 'x-application-key': 'guess' };

@Controller('orders')
class OrdersController {
  @Get('above') @withKey() @Roles('hiring_manager') above(): string {
    return 'in';
  }

  @Get('below') @Roles('hiring_manager') @withKey() below(): string {
    return 'in';
  }

  @Get('other-role') @withKey() @Roles('new_hire') otherRole(): string {
    return 'in';
  }

  @Get('relying-above') @relying @Roles('hiring_manager') relyingAbove(): string {
    return 'in';
  }

  @Get('relying-below') @Roles('hiring_manager') @relying relyingBelow(): string {
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

type Call = [role?: string | undefined, headers?: Record<string, string>];

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
    const answer = async (path: string, headers = {}, own?: string): Promise<unknown> => {
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
    const unknown = { 'x-application-key': 'unknown' };
    for (const path of ['/plain', '/ruled']) {
      expect(await answer(path, ROBOT_KEY)).toBe(JSON.stringify([ROBOT, true]));
      expect(await answer(path, GUESSED_KEY, token)).toBe(401);
      for (const headers of [{}, unknown]) {
        expect(await answer(path, headers, token)).toContain('"ann"');
        expect(await always(() => answer(path, headers))).toBe(401);
      }
    }
    expect(await always(() => answer('/other-role', ROBOT_KEY))).toBe(403);
    expect([await answer('/policy', ROBOT_KEY), await answer('/policy', {}, token)]).toEqual(['[null]', 403]);
    expect(await answer('/fresh', ROBOT_KEY)).toBe('in');
    expect(await answer('/optional', ROBOT_KEY)).toBe(JSON.stringify({ user: ROBOT }));
    expect(await answer('/public', ROBOT_KEY)).toBe('{}');
  });

  async function appOfPartners(guard: typeof SessionAuthGuard) {
    const service = await bed.service();
    const options = { baseUrl: service.url, apiKey: 'key' };
    const loadUser = ({ username }: UserRecord): object => ({ username });
    const ofPartners = SessionAuthModule.forRoot({ ...options, isGlobal: false, loadUser });
    const app = await bed.app({
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ ...options, audit: 'off' }),
        { module: Partners, imports: [ofPartners], controllers: [PartnerController] },
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
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await app.get(path, undefined, headers)).status;
    expect(await (await app.get('/ruled', undefined, ROBOT_KEY)).json()).toEqual([ROBOT, true]);
    expect(await (await app.get('/partner', undefined, ROBOT_KEY)).json()).toEqual([
      { username: 'robot' },
      true,
    ]);
    expect(await always(() => statusOf('/other-role', ROBOT_KEY))).toBe(403);
    for (const path of ['/ruled', '/partner']) expect(await always(() => statusOf(path))).toBe(401);
    expect(service.requests).toHaveLength(0);
  });
});

describe.each(PLATFORMS)('a subclass of the guard beside a rule on %s', (_name, platform) => {
  const controllers = [OrdersController, ClassAbove, OfRuledBase, KeyBelowRuledClass];
  const shared = sharedSample({ controllers }, platform);
  const closed = sharedSample({ controllers, options: { protectAllRoutes: true } }, platform);
  const statuses = async (
    { app, service }: SharedSample,
    path: string,
    ...calls: Call[]
  ): Promise<number[]> => {
    const replies = calls.map(([role, headers]) =>
      app.get(path, role === undefined ? undefined : service.signInAs({ role }, role), headers),
    );
    return (await Promise.all(replies)).map(({ status }) => status);
  };

  it.each([
    ['/orders/above', 200],
    ['/orders/other-role', 403],
    ['/base', 200],
  ])('admits by another way also on %s, whichever decorator is above [P70]', async (path, admitted) => {
    const manager = 'hiring_manager';
    const calls: Call[] = [[undefined, ROBOT_KEY], [manager], ['clerk'], [], [manager, GUESSED_KEY]];
    expect(await statuses(shared, path, ...calls)).toEqual([admitted, admitted, 403, 401, 401]);
  });

  it.each(['/orders/relying-above', '/orders/relying-below'])(
    'runs after the guards that the application has put before it on %s [P70]',
    async (path) => {
      const byGateway = { ...ROBOT_KEY, 'x-gateway': 'yes' };
      expect(
        await statuses(shared, path, [undefined, byGateway], [undefined, ROBOT_KEY], ['hiring_manager']),
      ).toEqual([200, 401, 200]);
    },
  );

  it('admits no caller by a key below a rule of the class, or protectAllRoutes, whose guard runs first [P70]', async () => {
    const paths = ['/orders/above', '/orders/below', '/class-above'];
    for (const [sample, path] of [
      [shared, '/ruled-in-ruled'] as const,
      ...paths.map((each) => [closed, each] as const),
    ])
      expect([path, await statuses(sample, path, [undefined, ROBOT_KEY], ['hiring_manager'])]).toEqual([
        path,
        [401, 200],
      ]);
  });
});
