import { describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Param,
  UseGuards,
  type DynamicModule,
  type ExecutionContext,
} from '@nestjs/common';
import {
  CurrentSession,
  CurrentUser,
  fromBearer,
  fromHeader,
  InjectSessionAuth,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthority,
  SessionAuthService,
  UserRecord,
  type PresentedSession,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

@SessionAuthority('partners')
@Controller('partners')
class PartnersController {
  constructor(
    private readonly own: SessionAuthService,
    @InjectSessionAuth('partners') private readonly partners: SessionAuthService,
  ) {}

  @Get('me')
  me(@CurrentUser('username') username: string | undefined): string {
    return `partner ${String(username)}`;
  }

  @Get('staff')
  @SessionAuthority('default')
  staff(@CurrentUser('username') username: string | undefined): string {
    return `staff ${String(username)}`;
  }

  @Get('boss')
  @Roles('boss')
  @UseGuards(SessionAuthGuard)
  boss(): string {
    return 'boss';
  }

  @Get('maybe')
  @OptionalAuth()
  maybe(@CurrentUser() user: UserRecord | undefined): string {
    return user?.username ?? 'no user';
  }

  @Get('open')
  @Public()
  open(): string {
    return 'open';
  }

  @Get('cached')
  @Public()
  cached(): string {
    return `${this.own.countCached()} ${this.partners.countCached()}`;
  }

  @Delete('session')
  @HttpCode(204)
  async signOut(@CurrentSession() session: PresentedSession): Promise<void> {
    await this.partners.signOut(session);
  }
}

/** Does not catch the errors of the services. */
@Public()
@Controller('failing')
class FailingController {
  constructor(
    private readonly own: SessionAuthService,
    @InjectSessionAuth('partners') private readonly partners: SessionAuthService,
  ) {}

  @Get('own')
  details(): Promise<unknown> {
    return this.own.userDetails('bad');
  }

  @Get('partners/:operation')
  async partner(@Param('operation') operation: string): Promise<void> {
    if (operation === 'signIn') await this.partners.signIn({ username: 'bob', password: 'wrong' });
    else
      await this.partners[operation as 'userDetails' | 'verify' | 'signOut' | 'forget'](
        operation === 'forget' ? 'b d' : 'bad',
      );
  }

  @Get('guarded')
  @UseGuards(SessionAuthGuard)
  @OptionalAuth()
  guarded(): Promise<unknown> {
    return this.partners.userDetails('bad');
  }
}

@Public()
@Controller('lobby')
class LobbyController {
  @Get('desk')
  @SessionAuthority('partners')
  desk(): string {
    return 'desk';
  }
}

@Module({})
class Root {}

const userNamed =
  (by: string) =>
  ({ username }: UserRecord): object => ({ username: `${by} ${String(username)}` });

interface Both {
  readonly app: RunningApp;
  readonly own: ScriptedService;
  readonly partners: ScriptedService;
}

describe.each(PLATFORMS)('two session services of one application on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function both(
    named: Partial<SessionAuthOptions> = { token: fromHeader('x-partner-token') },
    own: Partial<SessionAuthOptions & SessionAuthExtras> = {},
  ): Promise<Both> {
    const [first, second] = [await bed.service(), await bed.service()];
    const root: DynamicModule = {
      module: Root,
      imports: [
        SessionAuthModule.forRoot({ baseUrl: first.url, apiKey: 'own-key', ...own }),
        SessionAuthModule.forRoot({ name: 'partners', baseUrl: second.url, apiKey: 'partner-key', ...named }),
      ],
      controllers: [MeController, PartnersController, LobbyController, FailingController],
    };
    return { app: await bed.app(root), own: first, partners: second };
  }

  const partner = (token: string) => ({ 'x-partner-token': token });
  const tokensAt = (service: ScriptedService): unknown[] =>
    service.requests.map(({ headers }) => headers['x-auth-token']);

  it('each check the handlers that name them, with their own key and token source', async () => {
    const { app, own, partners } = await both();
    const [ann, bob] = [own.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];
    const headers = partner(bob);

    expect(await (await app.get('/me', ann, headers)).json()).toMatchObject({ username: 'ann' });
    expect(await (await app.get('/partners/me', ann, headers)).text()).toBe('partner bob');
    expect(await (await app.get('/partners/staff', ann, headers)).text()).toBe('staff ann');
    expect([...tokensAt(own), ...tokensAt(partners)]).toEqual([ann, ann, bob]);
    expect(new Set(own.requests.map((request) => request.headers['x-api-key']))).toEqual(
      new Set(['own-key']),
    );
    expect(new Set(partners.requests.map((request) => request.headers['x-api-key']))).toEqual(
      new Set(['partner-key']),
    );
  });

  it('each refuse the sessions of the other, and receive only the tokens of their own handlers', async () => {
    const { app, own, partners } = await both({ cache: { ttlMs: 60_000 } }, { cache: { ttlMs: 60_000 } });
    const [ann, bob] = [own.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];

    expect((await app.get('/me', ann)).status).toBe(200);
    expect((await app.get('/partners/me', bob)).status).toBe(200);
    expect(tokensAt(own)).toEqual([ann]);
    expect(tokensAt(partners)).toEqual([bob]);
    expect(await always(async () => (await app.get('/me', bob)).status)).toBe(401);
    expect(await always(async () => (await app.get('/partners/me', ann)).status)).toBe(401);
    expect(await (await app.get('/partners/cached')).text()).toBe('1 1');
  });

  it('deny with the challenge and the Vary of the one that the handler names', async () => {
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

  it('answer an error that a handler lets through with the challenge of the one whose service threw it', async () => {
    const { app, partners } = await both(undefined, { token: [fromBearer(), fromHeader('x-auth-token')] });
    const challenge = async (path: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
      const response = await app.get(`/failing/${path}`, undefined, headers);
      return [response.status, response.headers.get('www-authenticate')];
    };
    const ofPartners = 'X-Partner-Token realm="session"';
    const refused = `${ofPartners}, error="invalid_token"`;

    expect(await challenge('own')).toEqual([401, 'Bearer realm="session", error="invalid_token"']);
    expect(await challenge('partners/signIn')).toEqual([401, ofPartners]);
    for (const operation of ['userDetails', 'verify', 'forget'])
      expect(await challenge(`partners/${operation}`)).toEqual([401, refused]);
    expect(await challenge('guarded', { authorization: 'Bearer of-staff' })).toEqual([401, refused]);
    partners.setDown(true);
    expect(await challenge('partners/signOut')).toEqual([503, null]);
  });

  it('fail alone: an outage of one is no outage of the other', async () => {
    const { app, own, partners } = await both({ retry: false, breaker: { minimumCalls: 1 } });
    const ann = own.signInAs({ username: 'ann' });
    partners.setDown(true);

    expect(await always(async () => (await app.get('/partners/me', 'bob')).status)).toBe(503);
    expect((await app.get('/me', ann)).status).toBe(200);
  });

  it('apply rules, optional sessions and public handlers to the user of the one that is named', async () => {
    const { app, partners } = await both();
    const [bob, boss] = [
      partners.signInAs({ username: 'bob' }),
      partners.signInAs({ username: 'eve', role: 'boss' }),
    ];
    const status = async (path: string, token?: string) =>
      (await app.get(path, undefined, token === undefined ? {} : partner(token))).status;

    expect([await always(() => status('/partners/boss', bob)), await status('/partners/boss', boss)]).toEqual(
      [403, 200],
    );
    expect(await (await app.get('/partners/maybe')).text()).toBe('no user');
    expect(await (await app.get('/partners/maybe', undefined, partner(bob))).text()).toBe('bob');
    expect(await status('/partners/open')).toBe(200);
  });

  it('each load the users of their own records alone', async () => {
    const [ownLoad, partnerLoad] = [jest.fn(userNamed('own')), jest.fn(userNamed('partner'))];
    const token = fromHeader('x-partner-token');
    const authority = (context: ExecutionContext): string =>
      context.getClass() === MeController ? 'partners' : 'default';
    const asks: [Both, string][] = [
      [await both(undefined, { loadUser: ownLoad, authority }), 'bob'],
      [await both({ token, loadUser: partnerLoad }, { authority }), 'partner bob'],
    ];

    for (const [{ app, own, partners }, loaded] of asks) {
      const [ann, bob] = [own.signInAs({ username: 'ann' }), partners.signInAs({ username: 'bob' })];
      const headers = partner(bob);
      expect(await (await app.get('/me', undefined, headers)).json()).toMatchObject({ username: loaded });
      expect(await (await app.get('/partners/me', undefined, headers)).text()).toBe(`partner ${loaded}`);
      expect(await (await app.get('/partners/maybe', undefined, headers)).text()).toBe(loaded);
      expect((await app.get('/partners/staff', ann)).status).toBe(200);
    }
    expect(ownLoad.mock.calls.map(([{ username }]) => username)).toEqual(['ann']);
    expect(partnerLoad.mock.calls.map(([{ username }]) => username)).toEqual(['bob', 'bob', 'bob']);
  });

  it('close a handler of a public controller that names one', async () => {
    const { app, partners } = await both();

    expect(await always(async () => (await app.get('/lobby/desk')).status)).toBe(401);
    expect((await app.get('/lobby/desk', undefined, partner(partners.signInAs({})))).status).toBe(200);
  });

  it('check every handler by the one that it names if the guard is registered for the whole application', async () => {
    const { app, own, partners } = await both(undefined, { protectAllRoutes: true });
    const headers = partner(partners.signInAs({ username: 'bob' }));

    expect((await app.get('/partners/me', undefined, headers)).status).toBe(200);
    expect((await app.get('/me', undefined, headers)).status).toBe(401);
    expect(tokensAt(own)).toEqual([]);
  });

  it('sign out at the service that the handler injects', async () => {
    const { app, own, partners } = await both({
      token: fromHeader('x-partner-token'),
      cache: { ttlMs: 60_000 },
    });
    const headers = partner(partners.signInAs({ username: 'bob' }));
    const signedOut = await fetch(`${app.url}/partners/session`, { method: 'DELETE', headers });

    expect(signedOut.status).toBe(204);
    expect((await app.get('/partners/me', undefined, headers)).status).toBe(401);
    expect([own.callsTo('sign_out'), partners.callsTo('sign_out')]).toEqual([0, 1]);
  });
});
