import type { FactoryProvider } from '@nestjs/common';
import type { SessionAuthExtras } from '../options/extras.js';
import type { SessionAuthPlugin } from '../options/plugins.js';
import { booleanOption, invalidOption, namingRegistration } from './option-checks.js';
import { DEFAULTS } from './defaults.js';

const EXTRAS = Symbol('session-auth extras');

/**
 * Returns a provider that validates the extras when the application starts, like the options. An empty text
 * would protect no route.
 */
export function extrasCheck(
  { isGlobal, protectAllRoutes, plugins }: SessionAuthExtras,
  name: string,
): FactoryProvider<void> {
  return {
    provide: EXTRAS,
    useFactory: () =>
      namingRegistration(name, () => {
        booleanOption('isGlobal', isGlobal, DEFAULTS.isGlobal);
        booleanOption('protectAllRoutes', protectAllRoutes, DEFAULTS.protectAllRoutes);
        checkPlugins(plugins);
      }),
  };
}

/**
 * Returns the plugins among the elements of the option, each once. What is none is rejected when the
 * application starts.
 */
export function pluginsIn(plugins: unknown): Set<SessionAuthPlugin> {
  return new Set(Array.isArray(plugins) ? plugins.filter(isPlugin) : []);
}

function checkPlugins(plugins: unknown): void {
  if (plugins === undefined || (Array.isArray(plugins) && plugins.every(isPlugin))) return;
  invalidOption(
    'plugins',
    'must be a list of plugins',
    'Name values that entries of nestjs-session-auth export for it',
  );
}

function isPlugin(candidate: unknown): candidate is SessionAuthPlugin {
  return typeof (candidate as Partial<SessionAuthPlugin> | null | undefined)?.open === 'function';
}
