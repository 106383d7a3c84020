import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { APP_GUARD } from '@nestjs/core';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { AUTHORITY } from './authorities/authority.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import type { SessionAuthExtras, SessionAuthOptions } from './options/options.js';
import { SessionAuthModule } from './session-auth.module.js';

const OPTIONS: SessionAuthOptions = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
const GUARD = { provide: APP_GUARD, useExisting: SessionAuthGuard };

type Given = SessionAuthExtras | { readonly [Name in keyof SessionAuthExtras]: undefined };
const UNSET = { isGlobal: undefined, protectAllRoutes: undefined, name: undefined };
const EXTRAS: [Given, name: string, isGlobal: boolean, isForWhole: boolean, protects: boolean][] = [
  [{}, 'default', true, true, false],
  [UNSET, 'default', true, true, false],
  [{ isGlobal: false }, 'default', false, false, false],
  [{ protectAllRoutes: true }, 'default', true, true, true],
  [{ isGlobal: false, protectAllRoutes: true, name: 'default' }, 'default', false, true, true],
  [{ name: 'partners' }, 'partners', true, true, false],
  [{ name: 'partners', protectAllRoutes: true, isGlobal: true }, 'partners', true, true, true],
];
const useFactory = (): SessionAuthOptions => OPTIONS;

describe.each(EXTRAS)('an authority with %j', (given, name, isGlobal, isForWholeApplication, protects) => {
  const extras = given as object;
  it.each([
    ['forRoot()', SessionAuthModule.forRoot({ ...OPTIONS, ...extras }), { useValue: OPTIONS }],
    ['forRootAsync()', SessionAuthModule.forRootAsync({ useFactory, ...extras }), { useFactory, inject: [] }],
  ])('by %s has the options without them, and says what it is', (_method, { global, providers }, options) => {
    const registered = { name, isForWholeApplication, protectsAllRoutes: protects };
    const useValue = expect.objectContaining(registered) as unknown;
    expect(global).toBe(isGlobal);
    expect(providers).toContainEqual({ provide: MODULE_OPTIONS_TOKEN, ...options });
    expect(providers).toContainEqual({ provide: AUTHORITY, useValue });
    const guards = providers?.filter((provider) => isDeepStrictEqual(provider, GUARD));
    expect(guards).toHaveLength(Number(protects && name === 'default'));
  });
});

it('the options of an authority have a token by which a test may replace them', () => {
  expect(MODULE_OPTIONS_TOKEN).toBe('SESSION_AUTH_MODULE_OPTIONS');
});
