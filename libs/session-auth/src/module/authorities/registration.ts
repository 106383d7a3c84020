import type { Type, ValueProvider } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { SessionAuthExtras } from '../options/options.js';
import { authorityOf } from '../../guard/access-metadata.js';
import { classesOf, handlersIn } from '../../guard/handlers.js';
import type { NestModule } from '../../guard/nest-container.js';

/** The reach and the name of a registration of the module. */
export interface Registration {
  /** Whether it provides or applies the guard outside of the modules that import it. */
  readonly isForWholeApplication: boolean;
  /** Its name; `'default'` without one. Absent in a registration of an older copy of this package. */
  readonly name?: string;
  /** Whether it has `protectAllRoutes`. */
  readonly protectsAllRoutes?: boolean;
  /** The extras as they were given. They are validated with the options, when the application starts. */
  readonly extras?: SessionAuthExtras;
}

/**
 * Injection token of a {@link Registration}. All copies of this package share it, so that they find each
 * other's registrations.
 */
export const REGISTRATION = Symbol.for('nestjs-session-auth:registration');

/** Returns the provider that marks a module as a registration. */
export function registrationProvider(registration: Registration): ValueProvider<Registration> {
  return { provide: REGISTRATION, useValue: registration };
}

/** Returns the registration that a module is. */
export function registrationIn({ providers }: NestModule): Registration | undefined {
  return providers.get(REGISTRATION)?.instance as Registration | undefined;
}

/** Returns the name of the registration that a module is, unless it has none. */
export function nameIn(module: NestModule): string | undefined {
  const name = registrationIn(module)?.name;
  return name === DEFAULT_AUTHORITY ? undefined : name;
}

/** Returns the names of registrations that a class and its handlers have in `@SessionAuthority()`, and where. */
export function authoritiesNamedBy(owner: Type): [place: string, name: string][] {
  const all = [
    [owner.name, authorityOf(owner)] as const,
    ...handlersIn(owner).map(({ name, method }) => [`${owner.name}.${name}`, authorityOf(method)] as const),
  ];
  return all.flatMap(([place, name]) => (name === undefined ? [] : [[place, name] as [string, string]]));
}

/** Returns whether an application has more than one registration without a name, or any name of one. */
export function hasSeveral(modules: ModulesContainer): boolean {
  const all = [...modules.values()];
  const registrations = all.filter((module) => registrationIn(module));
  return (
    registrations.length > 1 ||
    registrations.some((module) => nameIn(module) !== undefined) ||
    all.flatMap(classesOf).some((owner) => authoritiesNamedBy(owner).length > 0)
  );
}
