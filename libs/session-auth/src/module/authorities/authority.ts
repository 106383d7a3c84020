import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import type { SessionAuthExtras } from '../options/options.js';
import { authorityOf } from '../../guard/access-metadata.js';
import { classesOf, handlersIn } from '../../guard/handlers.js';
import type { NestModule } from '../../guard/nest-container.js';

export type Authority = Required<SessionAuthExtras>;

/** All copies of this package share it. */
export const AUTHORITY = Symbol.for('nestjs-session-auth:registration');

export function authorityIn({ providers }: NestModule): Authority | undefined {
  return providers.get(AUTHORITY)?.instance as Authority | undefined;
}

export function nameIn(module: NestModule): string | undefined {
  const name = authorityIn(module)?.name;
  return name === DEFAULT_AUTHORITY ? undefined : name;
}

/** Returns the names of authorities that a class and its handlers have in `@SessionAuthority()`, and where. */
export function authoritiesNamedBy(owner: Type): { readonly place: string; readonly name: string }[] {
  const handlers = handlersIn(owner).map(({ name, method }) => ({ place: `${owner.name}.${name}`, method }));
  return [{ place: owner.name, method: owner }, ...handlers].flatMap(({ place, method }) => {
    const name = authorityOf(method);
    return name === undefined ? [] : { place, name };
  });
}

export function hasSeveral(modules: ModulesContainer): boolean {
  const all = [...modules.values()];
  return (
    all.filter(authorityIn).length > 1 ||
    all.some((module) => nameIn(module) !== undefined) ||
    all.flatMap(classesOf).some((owner) => authoritiesNamedBy(owner).length > 0)
  );
}
