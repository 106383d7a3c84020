import { afterEach, describe, expect, it } from '@jest/globals';
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
import { Roles, SessionAuthGuard, SessionAuthService, UserRecord } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { platforms } from '../support/platforms.js';
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

/** Nothing listens there: only the real guard would ask. */
const SAMPLE: SampleApp = { baseUrl: 'http://127.0.0.1:9', controllers: [MeController, PlainController] };

describe.each(platforms('Express'))('an application under @nestjs/testing on %s', (_name, platform) => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());

  const unreachable = (options: SampleApp['options'] = {}) =>
    Test.createTestingModule({ imports: [sampleApp({ ...SAMPLE, options })] });

  const withGlobalGuard = ({ options, provider }: GlobalGuard) =>
    Test.createTestingModule({
      imports: [
        sampleApp({
          ...SAMPLE,
          controllers: [MeController, PlainController, RuledController],
          options: options ?? {},
        }),
      ],
      providers: provider ? [provider] : [],
    });

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

  async function statusOf(builder: TestingModuleBuilder, path: string): Promise<number> {
    app = (await builder.compile()).createNestApplication(await platform());
    await app.listen(0, '127.0.0.1');
    return (await fetch(`${await app.getUrl()}${path}`)).status;
  }

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

  it.each(GLOBAL_GUARDS)(
    'may replace the guard of %s with overrideGuard(), also on handlers that name it',
    async (_name, registered) => {
      const builder = withGlobalGuard(registered)
        .overrideGuard(SessionAuthGuard)
        .useValue({ canActivate: () => true });
      expect(await statusesOf(builder, registered)).toEqual({ '/plain': 200, '/me': 200, '/ruled': 200 });
    },
  );

  it('calls a replacement that is a class or a factory', async () => {
    const asClass = withGlobalGuard(PROTECTED).overrideGuard(SessionAuthGuard).useClass(Forbidding);
    expect(await statusesOf(asClass, PROTECTED)).toEqual({ '/plain': 403, '/me': 403, '/ruled': 403 });
    const asFactory = withGlobalGuard(PROTECTED)
      .overrideGuard(SessionAuthGuard)
      .useFactory({ factory: () => new Forbidding() });
    expect(await statusesOf(asFactory, PROTECTED)).toEqual({ '/plain': 403, '/me': 403, '/ruled': 403 });
  });

  it('has the real guard everywhere else', async () => {
    for (const [, registered] of GLOBAL_GUARDS) {
      expect(await statusesOf(withGlobalGuard(registered), registered)).toEqual({
        '/plain': 401,
        '/me': 401,
        '/ruled': 401,
      });
    }
  });

  it('keeps the real guard that it registers as a class of APP_GUARD', async () => {
    const registered: GlobalGuard = { provider: { provide: APP_GUARD, useClass: SessionAuthGuard } };
    const builder = withGlobalGuard(registered)
      .overrideGuard(SessionAuthGuard)
      .useValue({ canActivate: () => true });
    expect(await statusesOf(builder, registered)).toEqual({ '/plain': 401, '/me': 401, '/ruled': 401 });
  });

  it('replaces only the guard of the application with overrideProvider()', async () => {
    const builder = withGlobalGuard(PROTECTED)
      .overrideProvider(SessionAuthGuard)
      .useValue({ canActivate: () => true });
    expect(await statusesOf(builder, PROTECTED)).toEqual({ '/plain': 200, '/me': 401, '/ruled': 401 });
  });

  it('may replace the service', async () => {
    const builder = unreachable();
    builder.overrideProvider(SessionAuthService).useValue({ verify: () => new UserRecord() });
    app = (await builder.compile()).createNestApplication(await platform());
    await app.init();

    expect(app.get(SessionAuthService).verify('token')).toBeInstanceOf(UserRecord);
  });
});
