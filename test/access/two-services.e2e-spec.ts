import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Delete, Get, HttpCode, Module, Post, type DynamicModule } from '@nestjs/common';
import {
  CurrentSession,
  CurrentUser,
  fromHeader,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthModule,
  SessionAuthService,
  type PresentedSession,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type UserRecord,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

@Controller('partners')
class PartnersController {
  constructor(private readonly partners: SessionAuthService) {}

  @Get('me') @Roles('buyer', 'boss') me(@CurrentUser('username') username: string | undefined): string {
    return `partner ${String(username)}`;
  }

  @Get('boss') @Roles('boss') boss(): string {
    return 'boss';
  }

  @Get('maybe') @OptionalAuth() maybe(@CurrentUser() user: UserRecord | undefined): string {
    return user?.username ?? 'no user';
  }

  @Get('cached') @Public() cached(): number {
    return this.partners.countCached();
  }

  @Post('session') @Public() async signIn(): Promise<string> {
    const result = await this.partners.signIn({ username: 'bob', password: 'secret' });
    return result.kind;
  }

  @Delete('session') @Roles('buyer') @HttpCode(204) async signOut(
    @CurrentSession() session: PresentedSession,
  ): Promise<void> {
    await this.partners.signOut(session);
  }
}

@Module({})
class Root {}
@Module({})
class PartnersModule {}

const userNamed =
  (by: string) =>
  ({ username }: UserRecord): object => ({ username: `${by} ${String(username)}` });

type Options = Partial<SessionAuthOptions & SessionAuthExtras>;

describe.each(PLATFORMS)('two session services, each of a module, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function both(
    ofPartners: Options = { token: fromHeader('x-partner-token') },
    ofStaff: Options = {},
  ): Promise<{ app: RunningApp; staff: ScriptedService; partners: ScriptedService }> {
    const [staff, partners] = [await bed.service(), await bed.service()];
    const registration = SessionAuthModule.forRoot({
      baseUrl: partners.url,
      apiKey: 'partner-key',
      isGlobal: false,
      ...ofPartners,
    });
    const root: DynamicModule = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ baseUrl: staff.url, apiKey: 'staff-key', ...ofStaff }),
        { module: PartnersModule, imports: [registration], controllers: [PartnersController] },
      ],
      controllers: [MeController],
      providers: [{ provide: 'staff', useExisting: SessionAuthService }],
    };
    return { app: await bed.app(root), staff, partners };
  }

  const partner = (token: string) => ({ 'x-partner-token': token });
  const seenBy = (service: ScriptedService, header: string): unknown[] =>
    service.requests.map(({ headers }) => headers[header]);
  const tokensAt = (service: ScriptedService): unknown[] => seenBy(service, 'x-auth-token');

  it('each check the handlers of their modules, with their own key and token source', async () => {
    const { app, staff, partners } = await both();
    const [ann, bob] = [
      staff.signInAs({ username: 'ann' }),
      partners.signInAs({ username: 'bob', role: 'buyer' }),
    ];
    const headers = partner(bob);

    expect(await (await app.get('/me', ann, headers)).json()).toMatchObject({ username: 'ann' });
    expect(await (await app.get('/partners/me', ann, headers)).text()).toBe('partner bob');
    expect([tokensAt(staff), tokensAt(partners)]).toEqual([[ann], [bob]]);
    expect([seenBy(staff, 'x-api-key'), seenBy(partners, 'x-api-key')]).toEqual([
      ['staff-key'],
      ['partner-key'],
    ]);
  });

  it('each refuse the sessions of the other, have their own cache, and receive only the tokens of their handlers', async () => {
    const { app, staff, partners } = await both({ cache: { ttlMs: 60_000 } }, { cache: { ttlMs: 60_000 } });
    const [ann, bob] = [
      staff.signInAs({ username: 'ann' }),
      partners.signInAs({ username: 'bob', role: 'buyer' }),
    ];

    expect((await app.get('/me', ann)).status).toBe(200);
    expect((await app.get('/partners/me', bob)).status).toBe(200);
    expect([tokensAt(staff), tokensAt(partners)]).toEqual([[ann], [bob]]);
    expect(await always(async () => (await app.get('/me', bob)).status)).toBe(401);
    expect(await always(async () => (await app.get('/partners/me', ann)).status)).toBe(401);
    expect(await (await app.get('/partners/cached')).text()).toBe('1');
    expect(app.app.get<SessionAuthService>('staff').countCached()).toBe(1);
  });

  it('deny with the challenge and the Vary of the one that checks the handler', async () => {
    const { app } = await both();

    for (const [path, header] of [
      ['/me', 'x-auth-token'],
      ['/partners/me', 'x-partner-token'],
    ] as const) {
      const { status, headers } = await app.get(path);
      expect([status, headers.get('cache-control')]).toEqual([401, 'no-store']);
      expect(headers.get('www-authenticate')?.toLowerCase()).toBe(`${header} realm="session"`);
      expect(headers.get('vary')?.toLowerCase()).toContain(header);
    }
  });

  it('fail alone: an outage of one is no outage of the other', async () => {
    const { app, staff, partners } = await both({ retry: false, breaker: { minimumCalls: 1 } });
    const ann = staff.signInAs({ username: 'ann' });
    partners.setDown(true);

    expect(await always(async () => (await app.get('/partners/me', 'bob')).status)).toBe(503);
    expect((await app.get('/me', ann)).status).toBe(200);
  });

  it.each([{}, { protectAllRoutes: true }])(
    'apply rules, optional sessions and public handlers to their own users, with %j for the staff',
    async (ofStaff) => {
      const { app, staff, partners } = await both(undefined, ofStaff);
      const [bob, boss] = [
        partners.signInAs({ username: 'bob', role: 'buyer' }),
        partners.signInAs({ username: 'eve', role: 'boss' }),
      ];
      const status = async (path: string, token?: string) =>
        (await app.get(path, undefined, token === undefined ? {} : partner(token))).status;

      expect([
        await always(() => status('/partners/boss', bob)),
        await status('/partners/boss', boss),
      ]).toEqual([403, 200]);
      expect(await (await app.get('/partners/maybe')).text()).toBe('no user');
      expect(await (await app.get('/partners/maybe', undefined, partner(bob))).text()).toBe('bob');
      expect([await status('/partners/cached'), await status('/me', bob)]).toEqual([200, 401]);
      expect(tokensAt(staff)).toEqual([]);
    },
  );

  it('each load the users of their own records alone', async () => {
    const [staffLoad, partnerLoad] = [jest.fn(userNamed('staff')), jest.fn(userNamed('partner'))];
    const { app, staff, partners } = await both({ loadUser: partnerLoad }, { loadUser: staffLoad });
    const [ann, bob] = [staff.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];

    expect(await (await app.get('/me', ann)).json()).toMatchObject({ username: 'staff ann' });
    expect(await (await app.get('/partners/maybe', bob)).text()).toBe('partner bob');
    expect(staffLoad.mock.calls.map(([{ username }]) => username)).toEqual(['ann']);
    expect(partnerLoad.mock.calls.map(([{ username }]) => username)).toEqual(['bob']);
  });

  it('each sign in and out for the modules that import them', async () => {
    const { app, staff, partners } = await both({
      token: fromHeader('x-partner-token'),
      cache: { ttlMs: 60_000 },
    });
    partners.addUser({ username: 'bob', password: 'secret' });
    expect((await fetch(`${app.url}/partners/session`, { method: 'POST' })).status).toBe(201);
    const headers = partner(partners.signInAs({ username: 'bob', role: 'buyer' }));
    expect((await app.get('/partners/me', undefined, headers)).status).toBe(200);
    expect((await fetch(`${app.url}/partners/session`, { method: 'DELETE', headers })).status).toBe(204);
    expect((await app.get('/partners/me', undefined, headers)).status).toBe(401);
    expect(
      ['sign_in', 'sign_out'].map((call) => [staff, partners].map((each) => each.callsTo(call as 'sign_in'))),
    ).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });
});
