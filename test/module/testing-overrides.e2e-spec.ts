import { describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  type Provider,
} from '@nestjs/common';
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

/** A way to guard every handler. */
interface GlobalGuard {
  readonly options?: SampleApp['options'];
  readonly provider?: Provider;
  readonly use?: (app: INestApplication) => void;
}

const PROTECTED: GlobalGuard = { options: { protectAllRoutes: true } };

const GLOBAL_GUARDS: readonly (readonly [name: string, registered: GlobalGuard])[] = [
  ['`protectAllRoutes`', PROTECTED],
  ['APP_GUARD with `useExisting`', { provider: { provide: APP_GUARD, useExisting: SessionAuthGuard } }],
  ['useGlobalGuards()', { use: (app) => void app.useGlobalGuards(app.get(SessionAuthGuard)) }],
];

@Injectable()
class Forbidding implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

describe.each(platforms('Express'))('an application under @nestjs/testing on %s', (_name, platform) => {
  /** Nothing listens at its address: only the real guard would ask. */
  const withGlobalGuard = ({ options = {}, provider }: GlobalGuard) => {
    const controllers = [MeController, PlainController, RuledController];
    return Test.createTestingModule({
      imports: [sampleApp({ baseUrl: 'http://127.0.0.1:9', controllers, options })],
      providers: provider ? [provider] : [],
    });
  };
  const overriding = (registered: GlobalGuard) => withGlobalGuard(registered).overrideGuard(SessionAuthGuard);
  const admitting = { canActivate: () => true };

  async function statusesOf(
    builder: TestingModuleBuilder,
    { use }: GlobalGuard,
  ): Promise<Record<string, number>> {
    const moduleRef = await builder.compile();
    const started = moduleRef.createNestApplication(await platform());
    try {
      use?.(started);
      await started.listen(0, '127.0.0.1');
      const url = await started.getUrl();
      const ask = async (path: string) =>
        [path, await always(async () => (await fetch(`${url}${path}`)).status)] as const;
      return Object.fromEntries(await Promise.all(['/plain', '/me', '/ruled'].map(ask)));
    } finally {
      await started.close();
    }
  }

  it.each(GLOBAL_GUARDS)(
    'may replace the guard of %s with overrideGuard(), also on handlers that name it',
    async (_name, registered) => {
      const statuses = await statusesOf(overriding(registered).useValue(admitting), registered);
      expect(statuses).toEqual({ '/plain': 200, '/me': 200, '/ruled': 200 });
    },
  );

  it('calls a replacement that is a class or a factory', async () => {
    const asClass = overriding(PROTECTED).useClass(Forbidding);
    const asFactory = overriding(PROTECTED).useFactory({ factory: () => new Forbidding() });
    for (const builder of [asClass, asFactory])
      expect(await statusesOf(builder, PROTECTED)).toEqual({ '/plain': 403, '/me': 403, '/ruled': 403 });
  });

  it('keeps the real guard that it registers as a class of APP_GUARD', async () => {
    const registered: GlobalGuard = { provider: { provide: APP_GUARD, useClass: SessionAuthGuard } };
    const statuses = await statusesOf(overriding(registered).useValue(admitting), registered);
    expect(statuses).toEqual({ '/plain': 401, '/me': 401, '/ruled': 401 });
  });

  it('replaces only the guard of the application with overrideProvider()', async () => {
    const builder = withGlobalGuard(PROTECTED).overrideProvider(SessionAuthGuard).useValue(admitting);
    expect(await statusesOf(builder, PROTECTED)).toEqual({ '/plain': 200, '/me': 401, '/ruled': 401 });
  });
});
