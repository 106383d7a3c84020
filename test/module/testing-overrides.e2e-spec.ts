import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { Roles, SessionAuthGuard, SessionAuthService, UserRecord } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { MeController, sampleApp, type SampleApp } from '../support/sample-app.js';

@Controller('plain')
class PlainController {
  @Get()
  plain(): string {
    return 'plain';
  }
}

@Controller('ruled')
class RuledController {
  @Get()
  @Roles('boss')
  ruled(): string {
    return 'ruled';
  }
}

/** Nothing listens there: only the real guard would ask. */
const SAMPLE: SampleApp = { baseUrl: 'http://127.0.0.1:9', controllers: [MeController, PlainController] };

describe.each(PLATFORMS)('an application under @nestjs/testing on %s', (_name, platform) => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());

  const unreachable = (options: SampleApp['options'] = {}) => Test.createTestingModule({ imports: [sampleApp({ ...SAMPLE, options })] });

  async function statusOf(builder: TestingModuleBuilder, path: string): Promise<number> {
    app = (await builder.compile()).createNestApplication(platform());
    await app.listen(0, '127.0.0.1');
    return (await fetch(`${await app.getUrl()}${path}`)).status;
  }

  it('may replace the guard that controllers name', async () => {
    const builder = unreachable()
      .overrideGuard(SessionAuthGuard)
      .useValue({ canActivate: () => true });

    expect(await statusOf(builder, '/me')).toBe(200);
  });

  it('may replace the guard of a rule, without the module', async () => {
    const builder = Test.createTestingModule({ controllers: [RuledController] })
      .overrideGuard(SessionAuthGuard)
      .useValue({ canActivate: () => true });

    expect(await statusOf(builder, '/ruled')).toBe(200);
  });

  it('does not compile without the module or another guard', async () => {
    const builder = Test.createTestingModule({ controllers: [RuledController] });
    await expect(builder.compile()).rejects.toThrow(/SessionAuthGuard.*SessionAuthModule\.forRoot\(\)/s);
  });

  it('may replace the guard that `protectAllRoutes` registers', async () => {
    const builder = unreachable({ protectAllRoutes: true })
      .overrideProvider(SessionAuthGuard)
      .useValue({ canActivate: () => true });

    expect(await statusOf(builder, '/plain')).toBe(200);
  });

  it('has the real guard otherwise', async () => {
    expect(await statusOf(unreachable({ protectAllRoutes: true }), '/plain')).toBe(401);
  });

  it('may replace the service', async () => {
    const builder = unreachable();
    builder.overrideProvider(SessionAuthService).useValue({ verify: () => new UserRecord() });
    app = (await builder.compile()).createNestApplication(platform());
    await app.init();

    expect(app.get(SessionAuthService).verify('token')).toBeInstanceOf(UserRecord);
  });
});
