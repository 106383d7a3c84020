import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Scope,
  UseGuards,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import {
  FreshSession,
  Roles,
  SessionAuthGuard,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { CapturedLog } from '../../support/captured-log.js';
import { EXPRESS, startApp, platforms, type RunningApp } from '../../support/platforms.js';
import { MeController, sampleApp } from '../../support/sample-app.js';
import { testbed } from '../../support/testbed.js';
import {
  CachedClass,
  CachedController,
  CacheInterceptor,
  ContradictoryController,
  RewrittenController,
  WrappedController,
} from './audited-controllers.js';
import { findingsIn, outcomeOf, visit, type AuditedApp } from './audited-app.js';

const BASE_URL = 'http://127.0.0.1:1';

interface Setup {
  readonly controllers?: Type[];
  readonly providers?: NonNullable<Parameters<typeof sampleApp>[0]['providers']>;
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  configure?(app: INestApplication): void;
}

/** The warnings of an application at its bootstrap, or the error that stops it. */
async function audited({
  controllers = [],
  providers = [],
  options = {},
  ...setup
}: Setup): Promise<string[] | Error> {
  const logger = new CapturedLog();
  const root = sampleApp({ baseUrl: BASE_URL, options, controllers, providers });
  const app = await startApp(EXPRESS, root, { ...setup, logger }).catch((error: unknown) => error as Error);
  if (app instanceof Error) return app;
  await app.close();
  return logger.having('warn', 'audit');
}

const matching = (...parts: string[]) =>
  parts.map((part) => expect.stringContaining(part) as unknown as string);

describe('the audit at bootstrap', () => {
  it('is silent if all rules have an effect', async () => {
    expect(await audited({ controllers: [MeController] })).toEqual([]);
  });

  it('warns of a handler that is opened and closed at once', async () => {
    expect(await audited({ controllers: [ContradictoryController] })).toEqual(
      matching(
        'ContradictoryController.list has @Public(), which has no effect next to decorators that require something',
      ),
    );
  });

  it('stops at a handler whose rule another decorator has removed, or a subclass has left out', async () => {
    const error = await audited({ controllers: [WrappedController, RewrittenController] });
    expect(error).toMatchObject({ name: 'InvalidConfigurationError' });
    expect(findingsIn(error as Error)).toEqual(
      matching(
        'WrappedController.lost has lost its rule',
        'RewrittenController.lost overrides WrappedController.lost without its rule',
      ),
    );
  });

  it.each<[string, Setup, string[]]>([
    [
      'of a handler',
      { controllers: [CachedController, CachedClass] },
      ['shared', 'named', 'every', 'constant', 'list'],
    ],
    [
      'given before it listens',
      { controllers: [MeController], configure: (app) => app.useGlobalInterceptors(new CacheInterceptor()) },
      ['me'],
    ],
  ])('warns of guarded routes that a cache %s answers for all users', async (_name, setup, names) => {
    const warnings = names.map(
      (name) =>
        `.${name} is cached for all users at once: the key of CacheInterceptor is the URL, or the text of @CacheKey(). Remove it, override trackBy() so that the key names the user, or give @CacheKey() a function.`,
    );
    expect(await audited(setup)).toEqual(matching(...warnings));
  });

  it("stops the application with all findings if it is set to 'error'", async () => {
    const error = await audited({
      controllers: [WrappedController, ContradictoryController],
      options: { audit: 'error' },
    });
    expect(error).toMatchObject({ name: 'InvalidConfigurationError' });
    expect(String(error)).toMatch(/WrappedController[.]lost[^]*ContradictoryController[.]list/);
  });

  it('is silent if it is off', async () => {
    expect(await audited({ controllers: [WrappedController], options: { audit: 'off' } })).toEqual([]);
  });
});

@Roles('boss')
abstract class Base {
  @Get() listForBosses(): string {
    return visit('Base.listForBosses');
  }
}

@Controller('list')
class Derived extends Base {}

@Controller('list')
class Plain {
  @Get() list(): string {
    return visit('Plain.list');
  }
}

@Controller({ path: 'list', scope: Scope.REQUEST })
class RequestScoped {
  @Get() @FreshSession() list(): string {
    return visit('RequestScoped.list');
  }
}

@Injectable()
class OwnGuard extends SessionAuthGuard {}

@Controller('list')
@UseGuards(OwnGuard)
class OwnlyGuarded {
  @Get() @Roles('boss') listForBosses(): string {
    return visit('OwnlyGuarded.listForBosses');
  }
}

const call = (app: RunningApp, token?: string) => app.get('/list', token);
const withController = (controller: Type, more: Partial<AuditedApp> = {}): (() => AuditedApp) => {
  return () => ({ controllers: [controller], call, ...more });
};

describe.each(platforms('Express'))('an application with routes on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a class that the controller extends', withController(Derived), ['Base.listForBosses']],
    ['a rule in a controller built for each request', withController(RequestScoped), ['RequestScoped.list']],
    ['a guard that extends the guard', withController(OwnlyGuarded), ['OwnlyGuarded.listForBosses']],
    [
      'useGlobalGuards()',
      withController(Plain, { configure: (app) => app.useGlobalGuards(app.get(SessionAuthGuard)) }),
      ['Plain.list'],
    ],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service(), platform)).toEqual({
      open: [],
      served,
      named: [],
      isStopped: false,
    });
  });
});
