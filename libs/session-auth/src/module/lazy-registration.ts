import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { NestModule } from '../guard/nest-container.js';
import { extrasOf } from './module-definition.js';
import type { SessionAuthExtras } from './options/options.js';

/**
 * Returns whether `LazyModuleLoader` has loaded a registration: the root module does not reach it. Nest then
 * applies no guard of the whole application, and calls no hook until the application closes.
 * @throws InvalidConfigurationError if its guard is meant for the whole application
 */
export function isLazy(modules: ModulesContainer, extras: SessionAuthExtras): boolean {
  // The first is Nest's own.
  const [, root] = modules.values();
  if (!root) return false;
  const reached = new Set<NestModule | undefined>([root]);
  // A set also yields what is added meanwhile.
  for (const module of reached) for (const imported of module?.imports ?? []) reached.add(imported);
  if ([...reached].some((module) => module && extrasOf(module) === extras)) return false;
  if (extras.protectAllRoutes)
    throw new InvalidConfigurationError(
      'SessionAuthModule: protectAllRoutes has no effect in a module that LazyModuleLoader loads. Register SessionAuthModule in the root module, or in a module that it imports.',
    );
  return true;
}
