import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentUser,
  fromHeader,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthority,
  SessionAuthService,
} from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { EXPRESS } from '../support/platforms.js';

const NOWHERE = { baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key' };

@Controller()
class OpeningsController {
  @Get('staff')
  @Roles('boss')
  staff(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }

  @Get('partners')
  @SessionAuthority('partners')
  @Roles('buyer')
  partners(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }
}

@Module({
  imports: [
    SessionAuthModule.forRoot(NOWHERE),
    SessionAuthModule.forRoot({ ...NOWHERE, name: 'partners', token: fromHeader('x-partner-token') }),
  ],
  controllers: [OpeningsController],
})
class AppModule {}

describe('an application under test with several session services', () => {
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

  it('has sessions of each, which no other accepts', async () => {
    const [staff, partners] = [new TestSessions(), new TestSessions({ authority: 'partners' })];
    const url = await listening(
      partners.install(staff.install(Test.createTestingModule({ imports: [AppModule] }))),
    );
    const [ann, bob] = [staff.signInAs({ role: 'boss' }), partners.signInAs({ role: 'buyer' })];
    const partner = (token: string) => ({ 'x-partner-token': token });
    const status = async (path: string, headers: Record<string, string>) =>
      (await fetch(`${url}${path}`, { headers })).status;

    expect(await status('/staff', ann)).toBe(200);
    expect(await status('/partners', partner(bob['x-auth-token']))).toBe(200);
    expect(await always(() => status('/staff', bob))).toBe(401);
    expect(await always(() => status('/partners', partner(ann['x-auth-token'])))).toBe(401);
    const seller = partner(partners.signInAs({ role: 'seller' })['x-auth-token']);
    expect(await always(() => status('/partners', seller))).toBe(403);
    partners.setDown(true);
    expect([await status('/staff', ann), await always(() => status('/partners', partner('any')))]).toEqual([
      200, 503,
    ]);
  });

  it('is not compiled with the sessions of an authority that it does not have', async () => {
    const builder = new TestSessions({ authority: 'suppliers' }).install(
      Test.createTestingModule({ imports: [AppModule] }),
    );

    await expect(builder.compile()).rejects.toThrow(
      "TestSessions: the module under test has no authority of SessionAuthModule with the name 'suppliers'.",
    );
  });

  it('has a mock of one service under the token of its name', async () => {
    const mock = { countCached: () => 42 };
    const builder = Test.createTestingModule({ imports: [AppModule] });
    builder.overrideProvider(SessionAuthModule.getToken('partners')).useValue(mock);
    await listening(builder);

    expect(app?.get<unknown>(SessionAuthModule.getToken('partners'))).toBe(mock);
    expect(app?.get(SessionAuthService).countCached()).toBe(0);
  });

  it('runs the guard of the test in place of all of them', async () => {
    const builder = Test.createTestingModule({ imports: [AppModule] });
    const url = await listening(
      builder.overrideGuard(SessionAuthGuard).useValue({ canActivate: () => true }),
    );

    expect((await fetch(`${url}/partners`)).status).toBe(200);
  });
});
