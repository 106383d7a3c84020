import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { GUARD_PARTS } from './guard-parts.js';

/**
 * Rejects a guard that no `SessionAuthModule` provides with its parts.
 * @param guard the class of the guard: `SessionAuthGuard` or a subclass
 * @throws InvalidConfigurationError always, naming the modules that use the guard
 */
export function rejectMissingModule(guard: unknown, modules: ModulesContainer | undefined): never {
  const names = modulesWith(guard, modules).join(', ') || 'A module';
  throw new InvalidConfigurationError(
    `${names} has SessionAuthGuard, or a rule such as @Roles(), and does not reach SessionAuthModule. Import SessionAuthModule.forRoot() in the root module; with isGlobal: false, import that registration here too.`,
  );
}

function modulesWith(guard: unknown, modules: ModulesContainer | undefined): string[] {
  return [...(modules?.values() ?? [])]
    .filter(({ injectables, providers }) => injectables.has(guard as never) || providers.has(guard as never))
    .filter(({ imports, providers }) => !providers.has(GUARD_PARTS) && ![...imports].some(({ exports }) => exports.has(GUARD_PARTS)))
    .map(({ metatype }) => metatype.name);
}
