import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type DynamicModule } from '@nestjs/common';
import {
  CurrentUser,
  fromHeader,
  Public,
  Roles,
  SessionAuthModule,
  SessionAuthService,
  type SessionAuthExtras,
  type SessionAuthOptions,
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

  @Get('cached') @Public() cached(): number {
    return this.partners.countCached();
  }
}

@Module({})
class Root {}
@Module({})
class PartnersModule {}

type Options = Partial<SessionAuthOptions & SessionAuthExtras>;

describe.each(PLATFORMS)('two session services, each of a module, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function both(
    ofPartners: Options = { token: fromHeader('x-partner-token') },
    ofStaff: Options = {},
  ): Promise<{ app: RunningApp; staff: ScriptedService; partners: ScriptedService }> {
    const [staff, partners] = [await bed.service(), await bed.service()];
    const own = { baseUrl: partners.url, apiKey: 'partner-key', isGlobal: false };
    const registration = SessionAuthModule.forRoot({ ...own, ...ofPartners });
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

  it('each check the handlers of their modules, with their own key, token source and cache [G09]', async () => {
    const cache = { ttlMs: 60_000 };
    const { app, staff, partners } = await both({ token: fromHeader('x-partner-token'), cache }, { cache });
    const ann = staff.signInAs({ username: 'ann' });
    const bob = partners.signInAs({ username: 'bob', role: 'buyer' });
    const headers = partner(bob);

    expect(await (await app.get('/me', ann, headers)).json()).toMatchObject({ username: 'ann' });
    expect(await (await app.get('/partners/me', ann, headers)).text()).toBe('partner bob');
    expect([tokensAt(staff), tokensAt(partners)]).toEqual([[ann], [bob]]);
    const keys = [seenBy(staff, 'x-api-key'), seenBy(partners, 'x-api-key')];
    expect(keys).toEqual([['staff-key'], ['partner-key']]);
    expect(await always(async () => (await app.get('/me', bob)).status)).toBe(401);
    const foreign = partner(ann);
    expect(await always(async () => (await app.get('/partners/me', undefined, foreign)).status)).toBe(401);
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
});
