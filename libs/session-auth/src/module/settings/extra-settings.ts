import type { FactoryProvider } from '@nestjs/common';
import type { SessionAuthExtras } from '../options/extras.js';
import { booleanOption, namingRegistration } from './option-checks.js';
import { DEFAULTS } from './defaults.js';

const EXTRAS = Symbol('session-auth extras');

/** Returns a provider that validates the extras when the application starts, like the options. An empty text would protect no route. */
export function extrasCheck({ isGlobal, protectAllRoutes }: SessionAuthExtras, name: string): FactoryProvider<void> {
  return {
    provide: EXTRAS,
    useFactory: () =>
      namingRegistration(name, () => {
        booleanOption('isGlobal', isGlobal, DEFAULTS.isGlobal);
        booleanOption('protectAllRoutes', protectAllRoutes, DEFAULTS.protectAllRoutes);
      }),
  };
}
