import 'reflect-metadata';
import { namesSessionAuthGuard } from '../../guard/access/declare-access.js';
import { declarationOf } from '../../guard/access/access-metadata.js';
import { type Requirement, resolveRule } from '../../guard/access/access-rule.js';
import type { Handler } from '../handlers/handlers.js';
import type { RootField } from './schema-reach.js';
import type { AuditContext } from './audit-context.js';

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
/** The root field of a subgraph that resolves references. */
const ENTITIES = 'Query._entities';

/** A field or a reference that a caller can reach without meeting the requirements of its handler. */
interface UnguardedField {
  readonly handler: Handler;
  /** The root field that leads to it, such as `Query.openings`; `undefined` if the schema could not be read. */
  readonly through: string | undefined;
}

/**
 * Returns the fields and references that have a rule and can be reached without its check. Without `fieldResolverEnhancers: ['guards']`, Nest runs
 * no guards on them, so only the guards of the root fields decide.
 */
export function unguardedFieldsOf(handlers: readonly Handler[], context: AuditContext): UnguardedField[] {
  if (context.fieldsAreGuarded) return [];
  const fields = handlers.filter(({ kinds, name }) => (kinds.has('field') || kinds.has('reference')) && name !== TYPE_RESOLVER);
  return fields.flatMap((handler) => {
    const through = pathTo(handler, handlers, context);
    return through === CLOSED ? [] : [{ handler, through }];
  });
}

const CLOSED = Symbol('closed');

function pathTo(field: Handler, handlers: readonly Handler[], context: AuditContext): string | undefined | typeof CLOSED {
  const required = requirementsOf(field, context.isGlobal);
  const parent = typeNameOf(field);
  if (required === undefined || parent === undefined) return CLOSED;
  if (handlers.some((handler) => handler.kinds.has('reference') && typeNameOf(handler) === parent)) return ENTITIES;
  if (!context.rootFields) return undefined;
  const isChecked = (root: RootField): boolean => {
    const resolvers = handlers.filter((handler) => resolves(handler, root));
    const checks = resolvers.map((resolver) => requirementsOf(resolver, context.isGlobal));
    return checks.length > 0 && checks.every((check) => check && required.every((requirement) => check.includes(requirement)));
  };
  const open = context.rootFields.find((root) => root.reaches.has(parent) && !isChecked(root));
  return open ? `${open.type}.${open.name}` : CLOSED;
}

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
