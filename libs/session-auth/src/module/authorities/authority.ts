import type { Type, ValueProvider } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { SessionAuthExtras } from '../options/options.js';
import { authorityOf } from '../../guard/access-metadata.js';
import { classesOf, handlersIn } from '../../guard/handlers.js';
import type { NestModule } from '../../guard/nest-container.js';

export interface Authority {
  /** Whether it provides or applies the guard outside of the modules that import it. */
  readonly isForWholeApplication: boolean;
  /** Its name; `'default'` without one. Absent in an authority of an older copy of this package. */
  readonly name?: string;
  readonly protectsAllRoutes?: boolean;
  /** The extras as they were given. They are validated with the options, when the application starts. */
  readonly extras?: SessionAuthExtras;
}

/**
 * Injection token of an {@link Authority}. All copies of this package share it, so that they find each
 * other's authorities.
 */
export const AUTHORITY = Symbol.for('nestjs-session-auth:registration');

export function authorityProvider(authority: Authority): ValueProvider<Authority> {
  return { provide: AUTHORITY, useValue: authority };
}

export function authorityIn({ providers }: NestModule): Authority | undefined {
  return providers.get(AUTHORITY)?.instance as Authority | undefined;
}

/** Returns the name of the authority that a module is, unless it has none. */
export function nameIn(module: NestModule): string | undefined {
  const name = authorityIn(module)?.name;
  return name === DEFAULT_AUTHORITY ? undefined : name;
}

/** Returns the names of authorities that a class and its handlers have in `@SessionAuthority()`, and where. */
export function authoritiesNamedBy(owner: Type): [place: string, name: string][] {
  const all = [
    [owner.name, authorityOf(owner)] as const,
    ...handlersIn(owner).map(({ name, method }) => [`${owner.name}.${name}`, authorityOf(method)] as const),
  ];
  return all.flatMap(([place, name]) => (name === undefined ? [] : [[place, name] as [string, string]]));
}

/** Returns whether an application has more than one default authority, or any name of one. */
export function hasSeveral(modules: ModulesContainer): boolean {
  const all = [...modules.values()];
  const authorities = all.filter((module) => authorityIn(module));
  return (
    authorities.length > 1 ||
    authorities.some((module) => nameIn(module) !== undefined) ||
    all.flatMap(classesOf).some((owner) => authoritiesNamedBy(owner).length > 0)
  );
}
