import { describe, expect, it } from '@jest/globals';
import { type CanActivate, Controller, Get, Injectable } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
import { MeController, sampleApp, type SampleApp } from '../support/sample-app.js';

@Controller('plain')
class PlainController {
  @Get() plain(): string {
    return 'plain';
  }
}

@Controller('ruled')
class RuledController {
  @Get() @Roles('boss') ruled(): string {
    return 'ruled';
  }
}

@Injectable()
class Forbidding implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

describe.each(platforms('Express'))('an application under @nestjs/testing on %s', (_name, platform) => {
  /** Nothing listens at its address: only the real guard would ask. */
  const moduleWith = (sample: Partial<SampleApp> = { options: { protectAllRoutes: true } }) => {
    const controllers = [MeController, PlainController, RuledController];
    return Test.createTestingModule({
      imports: [sampleApp({ baseUrl: 'http://127.0.0.1:9', controllers, ...sample })],
    });
  };
  const admitting = { canActivate: () => true };

  async function statusesOf(builder: TestingModuleBuilder): Promise<Record<string, number>> {
    const moduleRef = await builder.compile();
    const started = moduleRef.createNestApplication(await platform());
    try {
      await started.listen(0, '127.0.0.1');
      const url = await started.getUrl();
      const ask = async (path: string) =>
        [path, await always(async () => (await fetch(`${url}${path}`)).status)] as const;
      return Object.fromEntries(await Promise.all(['/plain', '/me', '/ruled'].map(ask)));
    } finally {
      await started.close();
    }
  }

  it('may replace the guard with overrideGuard(), also on handlers that name it', async () => {
    const statuses = await statusesOf(moduleWith().overrideGuard(SessionAuthGuard).useValue(admitting));
    expect(statuses).toEqual({ '/plain': 200, '/me': 200, '/ruled': 200 });
  });

  it('calls a replacement that is a class or a factory', async () => {
    const asClass = moduleWith().overrideGuard(SessionAuthGuard).useClass(Forbidding);
    const asFactory = moduleWith()
      .overrideGuard(SessionAuthGuard)
      .useFactory({ factory: () => new Forbidding() });
    for (const builder of [asClass, asFactory])
      expect(await statusesOf(builder)).toEqual({ '/plain': 403, '/me': 403, '/ruled': 403 });
  });

  it('keeps the real guard that it registers as a class of APP_GUARD', async () => {
    const providers = [{ provide: APP_GUARD, useClass: SessionAuthGuard }];
    const builder = moduleWith({ providers }).overrideGuard(SessionAuthGuard).useValue(admitting);
    expect(await statusesOf(builder)).toEqual({ '/plain': 401, '/me': 401, '/ruled': 401 });
  });

  it('replaces only the guard of the application with overrideProvider()', async () => {
    const builder = moduleWith().overrideProvider(SessionAuthGuard).useValue(admitting);
    expect(await statusesOf(builder)).toEqual({ '/plain': 200, '/me': 401, '/ruled': 401 });
  });
});
