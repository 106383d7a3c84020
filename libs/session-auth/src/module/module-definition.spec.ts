import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { AUTHORITY } from './authorities/authority.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { SessionAuthModule } from './session-auth.module.js';

const OPTIONS: SessionAuthOptions = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
const GUARD = { provide: APP_GUARD, useExisting: SessionAuthGuard };

type Given = SessionAuthExtras | { readonly [Name in keyof SessionAuthExtras]: undefined };
const EXTRAS: [Given, boolean, object, boolean][] = [
  [{}, true, { isForWholeApplication: true, name: 'default', protectsAllRoutes: false }, false],
  [
    { isGlobal: undefined, protectAllRoutes: undefined, name: undefined },
    true,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: false },
    false,
  ],
  [
    { isGlobal: false },
    false,
    { isForWholeApplication: false, name: 'default', protectsAllRoutes: false },
    false,
  ],
  [
    { protectAllRoutes: true },
    true,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: true },
    true,
  ],
  [
    { isGlobal: false, protectAllRoutes: true, name: 'default' },
    false,
    { isForWholeApplication: true, name: 'default', protectsAllRoutes: true },
    true,
  ],
  [
    { name: 'partners' },
    true,
    { isForWholeApplication: true, name: 'partners', protectsAllRoutes: false },
    false,
  ],
  [
    { name: 'partners', protectAllRoutes: true, isGlobal: true },
    true,
    { isForWholeApplication: true, name: 'partners', protectsAllRoutes: true },
    false,
  ],
];
const useFactory = (): SessionAuthOptions => OPTIONS;

describe.each(EXTRAS)('an authority with %j', (extras, isGlobal, registered, isGuarding) => {
  it.each([
    ['forRoot()', SessionAuthModule.forRoot({ ...OPTIONS, ...(extras as object) }), { useValue: OPTIONS }],
    [
      'forRootAsync()',
      SessionAuthModule.forRootAsync({ useFactory, ...(extras as object) }),
      { useFactory, inject: [] },
    ],
  ])('by %s has the options without them, and says what it is', (_method, { global, providers }, options) => {
    expect(global).toBe(isGlobal);
    expect(providers).toContainEqual({ provide: MODULE_OPTIONS_TOKEN, ...options });
    expect(providers).toContainEqual({
      provide: AUTHORITY,
      useValue: expect.objectContaining(registered) as unknown,
    });
    expect(providers?.filter((provider) => isDeepStrictEqual(provider, GUARD))).toHaveLength(
      Number(isGuarding),
    );
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
    const imports: DynamicModule[] = [SessionAuthModule.forRootAsync({ useClass: OptionsOfClass })];
    const context = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
    expect(context.get(MODULE_OPTIONS_TOKEN, { strict: false })).toBe(OPTIONS);
    await context.close();
  });

  it('have a token by which a test may replace them', () => {
    expect(MODULE_OPTIONS_TOKEN).toBe('SESSION_AUTH_MODULE_OPTIONS');
  });
});
