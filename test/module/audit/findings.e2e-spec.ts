import { describe, expect, it } from '@jest/globals';
import type { INestApplication, Type } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { CapturedLog } from '../../support/captured-log.js';
import { EXPRESS, startApp } from '../../support/platforms.js';
import { MeController, sampleApp } from '../../support/sample-app.js';
import {
  CachedController,
  CacheInterceptor,
  ContradictoryController,
  OpeningsResolver,
  RewrittenController,
  WrappedController,
} from './audited-controllers.js';

const BASE_URL = 'http://127.0.0.1:1';

/** As GraphQLModule provides its options. */
const graphql = (fieldResolverEnhancers?: string[]) => ({ provide: 'GqlModuleOptions', useValue: { fieldResolverEnhancers } });

interface Setup {
  readonly controllers?: Type[];
  readonly providers?: NonNullable<Parameters<typeof sampleApp>[0]['providers']>;
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  configure?(app: INestApplication): void;
}

/** The warnings of an application at its bootstrap, or the error that stops it. */
async function audited({ controllers = [], providers = [], options = {}, ...setup }: Setup): Promise<string[] | Error> {
  const logger = new CapturedLog();
  const root = sampleApp({ baseUrl: BASE_URL, options, controllers, providers });
  const app = await startApp(EXPRESS, root, { ...setup, logger }).catch((error: unknown) => error as Error);
  if (app instanceof Error) return app;
  await app.close();
  return logger.having('warn', 'audit');
}

const matching = (...parts: string[]) => parts.map((part) => expect.stringContaining(part) as unknown as string);

describe('the audit at bootstrap', () => {
  it('says nothing of an application whose rules hold', async () => {
    expect(await audited({ controllers: [MeController] })).toEqual([]);
  });

  it('warns of a handler that is opened and closed at once', async () => {
    expect(await audited({ controllers: [ContradictoryController] })).toEqual(
      matching('ContradictoryController.list has @Public(), which has no effect next to decorators that require something'),
    );
  });

  it('warns of a handler whose rule another decorator has removed', async () => {
    expect(await audited({ controllers: [WrappedController, RewrittenController] })).toEqual(
      matching('WrappedController.lost has lost its rule'),
    );
  });

  it.each<[string, Setup, string[]]>([
    ['of a handler', { controllers: [CachedController] }, ['shared', 'named']],
    [
      'of the whole application',
      { controllers: [MeController], providers: [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }] },
      ['me'],
    ],
    [
      'given before it listens',
      { controllers: [MeController], configure: (app) => app.useGlobalInterceptors(new CacheInterceptor()) },
      ['me'],
    ],
  ])('warns of guarded routes that a cache %s answers for all users', async (_name, setup, names) => {
    const warnings = names.map((name) => `.${name} is cached for all users at once: the key of CacheInterceptor is the URL`);
    expect(await audited(setup)).toEqual(matching(...warnings));
  });

  it('warns of fields that a caller reaches without their rule', async () => {
    const warning =
      "OpeningsResolver.salary can be reached without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards']";
    expect(await audited({ providers: [OpeningsResolver, graphql()] })).toEqual(matching(warning));
    expect(await audited({ providers: [OpeningsResolver, graphql(['guards'])] })).toEqual([]);
  });

  it('stops the application where it is to be an error, with all that it found', async () => {
    const error = await audited({ controllers: [WrappedController, ContradictoryController], options: { audit: 'error' } });
    expect(error).toMatchObject({ name: 'InvalidConfigurationError' });
    expect(String(error)).toMatch(/WrappedController[.]lost[^]*ContradictoryController[.]list/);
  });

  it('says nothing where it is off', async () => {
    expect(await audited({ controllers: [WrappedController], options: { audit: 'off' } })).toEqual([]);
  });
});
