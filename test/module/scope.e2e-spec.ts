import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, UseGuards, type DynamicModule } from '@nestjs/common';
import { Public, Roles, SessionAuthGuard, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

@Injectable()
class Door {
  constructor(readonly sessions: SessionAuthService) {}
}

@Controller('feature')
@UseGuards(SessionAuthGuard)
class FeatureController {
  constructor(private readonly door: Door) {}

  @Get()
  async show(): Promise<string | undefined> {
    return (await this.door.sessions.verify('token')).username;
  }
}

@Controller('plain')
class PlainController {
  @Get()
  plain(): string {
    return 'plain';
  }

  @Get('public')
  @Public()
  public(): string {
    return 'public';
  }
}

@Module({ controllers: [FeatureController], providers: [Door] })
class FeatureModule {}

@Module({})
class ImportingFeatureModule {}

@Module({})
class Root {}

const sessionAuth = (baseUrl: string, extras: { isGlobal?: boolean; protectAllRoutes?: boolean }): DynamicModule =>
  SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...extras });

const importing = (auth: DynamicModule): DynamicModule => ({
  module: ImportingFeatureModule,
  imports: [auth],
  controllers: [FeatureController],
  providers: [Door],
});

describe.each(PLATFORMS)('the reach of the module on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([{}, { isGlobal: true }])('is every feature module, without an import (%j)', async (extras) => {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const app = await bed.app({ module: Root, imports: [sessionAuth(service.url, extras), FeatureModule] });

    expect((await app.get('/feature', 'token')).status).toBe(200);
    expect((await app.get('/feature')).status).toBe(401);
  });

  it('is the modules that import it, with `isGlobal: false`', async () => {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const auth = sessionAuth(service.url, { isGlobal: false });
    const app = await bed.app({ module: Root, imports: [importing(auth)], controllers: [PlainController] });

    expect((await app.get('/feature', 'token')).status).toBe(200);
    expect((await app.get('/feature')).status).toBe(401);
    expect((await app.get('/plain')).status).toBe(200);
  });

  it.each([{}, { protectAllRoutes: false }])('leaves a route without a guard open (%j)', async (extras) => {
    const service = await bed.service();
    const app = await bed.app({ module: Root, imports: [sessionAuth(service.url, extras)], controllers: [PlainController] });

    expect((await app.get('/plain')).status).toBe(200);
  });

  it.each([true, false])('is every route, with `protectAllRoutes` (isGlobal: %p), but those marked @Public', async (isGlobal) => {
    const service = await bed.service();
    service.signInAs({}, 'token');
    const auth = sessionAuth(service.url, { isGlobal, protectAllRoutes: true });
    const app = await bed.app({ module: Root, imports: [auth, importing(auth)], controllers: [PlainController] });
    const ask = async (path: string, token?: string): Promise<number> => (await app.get(path, token)).status;

    expect([await ask('/plain'), await ask('/plain', 'bad'), await ask('/feature')]).toEqual([401, 401, 401]);
    expect([await ask('/plain', 'token'), await ask('/feature', 'token')]).toEqual([200, 200]);
    expect([await ask('/plain/public'), await ask('/nowhere')]).toEqual([200, 404]);
  });
});

@Controller('ruled')
class RuledController {
  @Get() @Roles('boss') ruled(): string {
    return 'ruled';
  }
}

@Module({ controllers: [RuledController] })
class RuledModule {}

describe('an application whose module has a guard or a rule and does not reach `SessionAuthModule`', () => {
  const scoped = sessionAuth('http://127.0.0.1:9', { isGlobal: false });
  const closed = sessionAuth('http://127.0.0.1:9', { isGlobal: false, protectAllRoutes: true });

  it.each<[string, DynamicModule]>([
    ['a guard, and `isGlobal: false`', { module: Root, imports: [scoped, FeatureModule] }],
    ['a rule, and `isGlobal: false`', { module: Root, imports: [scoped, RuledModule] }],
    ['a rule, `isGlobal: false` and `protectAllRoutes`', { module: Root, imports: [closed, RuledModule] }],
    ['a guard, and no registration', { module: Root, imports: [FeatureModule] }],
    ['a rule, and no registration', { module: Root, imports: [RuledModule] }],
  ])('does not start with %s, and is told what to import', async (_case, root) => {
    const error = await bootstrapError(root);

    expect(error.message).toMatch(/can't resolve dependencies of the (SessionAuthGuard|Door)/);
    expect(error.message).toMatch(/SessionAuthModule\.forRoot\(\)|SessionAuthService/);
  });

  it('starts when the module is imported there', async () => {
    const root = { module: Root, imports: [scoped, { module: ImportingFeatureModule, imports: [scoped], controllers: [RuledController] }] };
    await expect(bootstrapError(root)).rejects.toThrow('The application started');
  });
});
