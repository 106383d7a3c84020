import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { fromHeader, Roles, SessionAuthModule } from 'nestjs-session-auth';
import { startSessionService, TestSessions } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { EXPRESS } from '../support/platforms.js';

@Controller()
class StaffController {
  @Get('staff') @Roles('boss') staff(): string {
    return 'staff';
  }
}

@Controller()
class PartnersController {
  @Get('partners') @Roles('buyer') partners(): string {
    return 'partners';
  }
}

@Module({})
class AppModule {}
@Module({})
class PartnersModule {}

function appWith(staffUrl = 'http://127.0.0.1:9', partnersUrl = staffUrl): DynamicModule {
  const partners = SessionAuthModule.forRoot({
    baseUrl: partnersUrl,
    apiKey: 'key',
    token: fromHeader('x-partner-token'),
    isGlobal: false,
  });
  return {
    module: AppModule,
    imports: [
      SessionAuthModule.forRoot({ baseUrl: staffUrl, apiKey: 'key' }),
      { module: PartnersModule, imports: [partners], controllers: [PartnersController] },
    ],
    controllers: [StaffController],
  };
}

describe('an application under test with two session services', () => {
  let app: INestApplication | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function listening(builder: ReturnType<typeof Test.createTestingModule>): Promise<string> {
    app = (await builder.compile()).createNestApplication(await EXPRESS(), { logger: false });
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  }
  const partner = (token: string) => ({ 'x-partner-token': token });
  const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(url, { headers })).status;

  it('accepts the sessions of the kit in both', async () => {
    const sessions = new TestSessions();
    const url = await listening(sessions.install(Test.createTestingModule({ imports: [appWith()] })));
    const [boss, buyer] = [sessions.signInAs({ role: 'boss' }), sessions.signInAs({ role: 'buyer' })];
    expect(await statusOf(`${url}/staff`, boss)).toBe(200);
    expect(await statusOf(`${url}/partners`, partner(buyer['x-auth-token']))).toBe(200);
    expect(await always(() => statusOf(`${url}/partners`, partner(boss['x-auth-token'])))).toBe(403);
    sessions.setDown(true);
    expect([await statusOf(`${url}/staff`, boss), await statusOf(`${url}/partners`, partner('any'))]).toEqual(
      [503, 503],
    );
  });

  it('keeps the sessions of two scripted services apart', async () => {
    const [staff, partners] = [await startSessionService(), await startSessionService()];
    const url = await listening(Test.createTestingModule({ imports: [appWith(staff.url, partners.url)] }));
    const [boss, buyer] = [staff.signInAs({ role: 'boss' }), partners.signInAs({ role: 'buyer' })];
    expect(await statusOf(`${url}/staff`, { 'x-auth-token': boss })).toBe(200);
    expect(await statusOf(`${url}/partners`, partner(buyer))).toBe(200);
    expect(await always(() => statusOf(`${url}/staff`, { 'x-auth-token': buyer }))).toBe(401);
    expect(await always(() => statusOf(`${url}/partners`, partner(boss)))).toBe(401);
    await Promise.all([staff.close(), partners.close()]);
  });
});
