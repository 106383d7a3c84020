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
const EXTRAS: [Given, name: string, isGlobal: boolean, protectAllRoutes: boolean][] = [
  [{}, 'default', true, false],
  [UNSET, 'default', true, false],
  [{ isGlobal: false }, 'default', false, false],
  [{ protectAllRoutes: true }, 'default', true, true],
  [{ isGlobal: false, protectAllRoutes: true, name: 'default' }, 'default', false, true],
  [{ name: 'partners' }, 'partners', true, false],
  [{ name: 'partners', protectAllRoutes: true, isGlobal: true }, 'partners', true, true],
];
const useFactory = (): SessionAuthOptions => OPTIONS;

describe.each(EXTRAS)('an authority with %j', (given, name, isGlobal, protectAllRoutes) => {
  const extras = given as object;
  it.each([
    ['forRoot()', SessionAuthModule.forRoot({ ...OPTIONS, ...extras }), { useValue: OPTIONS }],
    ['forRootAsync()', SessionAuthModule.forRootAsync({ useFactory, ...extras }), { useFactory, inject: [] }],
  ])('by %s has the options without them, and says what it is', (_method, { global, providers }, options) => {
    const useValue = { name, isGlobal, protectAllRoutes, plugins: [] };
    expect(global).toBe(isGlobal);
    expect(providers).toContainEqual({ provide: MODULE_OPTIONS_TOKEN, ...options });
    expect(providers).toContainEqual({ provide: AUTHORITY, useValue });
    const guards = providers?.filter((provider) => isDeepStrictEqual(provider, GUARD));
    expect(guards).toHaveLength(Number(protectAllRoutes && name === 'default'));
  });
});

it('the options of an authority have a token by which a test may replace them', () => {
  expect(MODULE_OPTIONS_TOKEN).toBe('SESSION_AUTH_MODULE_OPTIONS');
});
