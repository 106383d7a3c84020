import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { AUTHORITY } from './authorities/authority.js';
import { UnopenedParts } from './authorities/unopened-parts.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './module-definition.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';

const OPTIONS: SessionAuthOptions = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
const GUARD = { provide: APP_GUARD, useExisting: SessionAuthGuard };
const optionsOf = (useValue: object): object => ({ provide: MODULE_OPTIONS_TOKEN, useValue });
/** Without plugins. */
const WITHOUT_PARTS = {
  imports: [{ module: UnopenedParts, providers: [], exports: [] }],
  exports: [UnopenedParts],
};
const registration = (value: object): object => ({
  provide: AUTHORITY,
  useValue: expect.objectContaining(value) as unknown,
});

type Given = SessionAuthExtras | { readonly [Name in keyof SessionAuthExtras]: undefined };
const EXTRAS: [Given, boolean, object, Provider[]][] = [
  [{}, true, { isForWholeApplication: true, name: 'default', protectsAllRoutes: false }, []],
  [
    { isGlobal: undefined, protectAllRoutes: undefined, name: undefined },
    true,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: false },
    [],
  ],
  [
    { isGlobal: false },
    false,
    { isForWholeApplication: false, name: 'default', protectsAllRoutes: false },
    [],
  ],
  [
    { protectAllRoutes: true },
    true,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: true },
    [GUARD],
  ],
  [
    { isGlobal: false, protectAllRoutes: true, name: 'default' },
    false,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: true },
    [GUARD],
  ],
  [
    { name: 'partners' },
    true,
    { isForWholeApplication: true, name: 'partners', protectsAllRoutes: false },
    [],
  ],
  [
    { name: 'partners', protectAllRoutes: true, isGlobal: true },
    true,
    { isForWholeApplication: true, name: 'partners', protectsAllRoutes: true },
    [],
  ],
];

describe.each(EXTRAS)('an authority with %j', (extras, isGlobal, registered, guards) => {
  it('by forRoot() has the options without them, and says what it is', () => {
    expect(ConfigurableModuleClass.forRoot({ ...OPTIONS, ...extras } as SessionAuthOptions)).toEqual({
      module: ConfigurableModuleClass,
      global: isGlobal,
      ...WITHOUT_PARTS,
      providers: [optionsOf(OPTIONS), ...guards, registration(registered)],
    });
  });

  it('by forRootAsync() has them beside the factory, and says what it is', () => {
    const useFactory = (): SessionAuthOptions => OPTIONS;
    expect(
      ConfigurableModuleClass.forRootAsync({ useFactory, ...(extras as SessionAuthExtras) }),
    ).toMatchObject({
      global: isGlobal,
      ...WITHOUT_PARTS,
      providers: [{ provide: MODULE_OPTIONS_TOKEN, useFactory }, ...guards, registration(registered)],
    });
  });
});

describe('the options of an authority', () => {
  @Injectable()
  class OptionsOfClass {
    createSessionAuthOptions(): SessionAuthOptions {
      return OPTIONS;
    }
  }
  @Module({})
  class Root {}

  it('may come from a class', async () => {
    const imports: DynamicModule[] = [ConfigurableModuleClass.forRootAsync({ useClass: OptionsOfClass })];
    const context = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
    expect(context.get(MODULE_OPTIONS_TOKEN, { strict: false })).toBe(OPTIONS);
    await context.close();
  });

  it('have a token by which a test may replace them', () => {
    expect(MODULE_OPTIONS_TOKEN).toBe('SESSION_AUTH_MODULE_OPTIONS');
  });
});
