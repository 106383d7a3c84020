import type { Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { REGISTRATION, type Registration } from './registration.js';

type NestModule = ModulesContainer extends Map<string, infer Found> ? Found : never;

/**
 * Rejects registrations that Nest could not tell apart: it would give each module the guard and the service of one of them, by the order of
 * imports. A registration that is imported more than once counts once.
 * @throws InvalidConfigurationError
 */
function rejectAmbiguousRegistrations(modules: ModulesContainer): void {
  if ([...modules.values()].filter((module) => registrationIn(module)?.isForWholeApplication).length > 1) {
    throw new InvalidConfigurationError(
      'SessionAuthModule is registered more than once for the whole application. Call forRoot() or forRootAsync() once, in the root module: other modules need no import. For several session services, set isGlobal: false in each registration, without protectAllRoutes, and import each in its own modules.',
    );
  }
  for (const { metatype, imports } of modules.values()) {
    if ([...imports].filter((module) => registrationIn(module)?.isForWholeApplication === false).length > 1) {
      throw new InvalidConfigurationError(
        `${metatype.name} imports more than one registration of SessionAuthModule. Import one: a module has one guard and one service.`,
      );
    }
  }
}

function registrationIn({ providers }: NestModule): Registration | undefined {
  return providers.get(REGISTRATION)?.instance as Registration | undefined;
}

/** Rejects the import of the class itself. @throws InvalidConfigurationError always */
function rejectMissingOptions(): never {
  throw new InvalidConfigurationError(
    'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey }) in the root module: other modules need no import.',
  );
}

/** Providers that stop the start if the module is registered without options, or more than once. `forRoot()` and `forRootAsync()` replace the first one. */
export const REGISTRATION_CHECKS: Provider[] = [
  { provide: MODULE_OPTIONS_TOKEN, useFactory: rejectMissingOptions },
  { provide: Symbol('registration check'), useFactory: rejectAmbiguousRegistrations, inject: [ModulesContainer] },
];
