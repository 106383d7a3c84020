import 'reflect-metadata';
import { declarationOf } from '../../guard/access/access-metadata.js';
import { type Requirement, resolveRule } from '../../guard/access/access-rule.js';
import { namesSessionAuthGuard } from '../../guard/enhancers.js';
import type { Handler } from '../handlers/handlers.js';
import type { RootField } from './schema-reach.js';

/** Returns the requirements of a handler; `undefined` if the handler is open to callers without a session. */
export function requirementsOf({ owner, method }: Handler, isGlobal: boolean): readonly Requirement[] | undefined {
  const rule = resolveRule(declarationOf(method), declarationOf(owner));
  return isGuarded({ owner, method }, isGlobal) && rule.kind === 'protected' ? rule.requirements : undefined;
}

/** Returns whether Nest runs the session guard on a handler, unless it is a field or a reference of GraphQL. */
export function isGuarded({ owner, method }: Pick<Handler, 'owner' | 'method'>, isGlobal: boolean): boolean {
  return isGlobal || namesSessionAuthGuard(owner) || namesSessionAuthGuard(method);
}

const RESOLVER_TYPE = 'graphql:resolver_type';
const RESOLVER_NAME = 'graphql:resolver_name';
/** Resolves the object type of a value, and returns none of its data. */
export const TYPE_RESOLVER = '__resolveType';
/** Returns whether a handler resolves a root field. */
export function resolves(handler: Handler, root: RootField): boolean {
  return typeNameOf(handler) === root.type && fieldNameOf(handler) === root.name;
}

/** Returns the name of the field that a handler resolves. */
export function fieldNameOf({ method, name }: Handler): string {
  return (Reflect.getMetadata(RESOLVER_NAME, method) as string | undefined) ?? name;
}

/** Returns the name of the type that a handler belongs to. Reads the metadata as Nest does: from the method, otherwise from its class. */
export function typeNameOf({ method, owner }: Handler): string | undefined {
  return (Reflect.getMetadata(RESOLVER_TYPE, method) ?? Reflect.getMetadata(RESOLVER_TYPE, owner)) as string | undefined;
}
