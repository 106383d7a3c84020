import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { NestModule } from '../../guard/nest-container.js';
import { nameIn, registrationIn } from './registration.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { authorityOf } from '../../guard/access-metadata.js';
import { classesOf, handlersIn } from '../../guard/handlers.js';

/**
 * Rejects registrations that are ambiguous, and names that none of them has.
 * @throws InvalidConfigurationError
 */
export function checkRegistrations(modules: ModulesContainer): void {
  rejectAmbiguousRegistrations(modules);
  rejectAmbiguousNames(modules);
  rejectUnknownAuthorities(modules);
}

/** Returns the registration without a name that a module is. */
function unnamedIn(module: NestModule): ReturnType<typeof registrationIn> {
  return nameIn(module) === undefined ? registrationIn(module) : undefined;
}

/**
 * Rejects registrations that Nest could not distinguish: it would give each module the guard and the service
 * of one of them, by the order of imports. A registration that is imported more than once counts once.
 * @throws InvalidConfigurationError
 */
function rejectAmbiguousRegistrations(modules: ModulesContainer): void {
  if ([...modules.values()].filter((module) => unnamedIn(module)?.isForWholeApplication).length > 1) {
    throw new InvalidConfigurationError(
      'SessionAuthModule is registered more than once for the whole application. Call forRoot() or forRootAsync() once, in the root module: other modules need no import. For several session services, give each further registration a name; or set isGlobal: false in each, without protectAllRoutes, and import each in its own modules.',
    );
  }
  for (const { metatype, imports } of modules.values()) {
    if ([...imports].filter((module) => unnamedIn(module)?.isForWholeApplication === false).length > 1) {
      throw new InvalidConfigurationError(
        `${metatype.name} imports more than one registration of SessionAuthModule. Import one: a module has one guard and one service.`,
      );
    }
  }
}

/**
 * Rejects a name that two registrations have, and named registrations without one that has no name. @throws
 * InvalidConfigurationError
 */
function rejectAmbiguousNames(modules: ModulesContainer): void {
  const all = [...modules.values()];
  const names = new Set<string>();
  for (const module of all) {
    const name = nameIn(module);
    if (name === undefined) continue;
    if (names.has(name)) {
      throw new InvalidConfigurationError(
        `SessionAuthModule has two registrations with the name '${name}'. Give each its own name, or import one DynamicModule where both are imported.`,
      );
    }
    if (registrationIn(module)?.protectsAllRoutes) {
      throw new InvalidConfigurationError(
        `SessionAuthModule '${name}': protectAllRoutes is in a registration with a name. Set it in the registration without a name: its guard checks every handler by the registration that the handler names.`,
      );
    }
    names.add(name);
  }
  if (names.size === 0 || all.some((module) => unnamedIn(module))) return;
  throw new InvalidConfigurationError(
    `SessionAuthModule has no registration without a name, which checks the handlers without @SessionAuthority(). Leave out name: '${[...names].join("' or '")}'.`,
  );
}

/**
 * Rejects the import of the class itself, as the factory of the options. @throws InvalidConfigurationError
 * always
 */
export function rejectMissingOptions(): never {
  throw new InvalidConfigurationError(
    'SessionAuthModule is imported without options. Import SessionAuthModule.forRoot({ baseUrl, apiKey }) in the root module: other modules need no import.',
  );
}

/** Rejects `@SessionAuthority()` with a name that no registration has. @throws InvalidConfigurationError */
function rejectUnknownAuthorities(modules: ModulesContainer): void {
  const names = new Set([...modules.values()].map(nameIn)).add(DEFAULT_AUTHORITY);
  for (const owner of new Set([...modules.values()].flatMap(classesOf))) {
    for (const [place, name] of authoritiesOf(owner)) {
      if (names.has(name)) continue;
      throw new InvalidConfigurationError(
        `${place} has @SessionAuthority('${name}'), which is not registered. Import SessionAuthModule.forRoot({ name: '${name}', baseUrl, apiKey }), or correct the name.`,
      );
    }
  }
}

function authoritiesOf(owner: Type): [place: string, name: string][] {
  const all = [
    [owner.name, authorityOf(owner)] as const,
    ...handlersIn(owner).map(({ name, method }) => [`${owner.name}.${name}`, authorityOf(method)] as const),
  ];
  return all.flatMap(([place, name]) => (name === undefined ? [] : [[place, name] as [string, string]]));
}
