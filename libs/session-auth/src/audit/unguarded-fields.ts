import { ruleOf, type Handler } from '../guard/handlers.js';
import type { Requirement } from '../guard/access-rule.js';
import type { RootField } from './schema-reach.js';
import type { AuditContext } from './audit-context.js';
import {
  isBelowRoot,
  isSameRequirement,
  namesGuard,
  requirementsOf,
  resolves,
  TYPE_RESOLVER,
} from './audited-handlers.js';
import { typeNameOf } from './mapped-handlers.js';

/** The root field of a subgraph that resolves references. */
const ENTITIES = 'Query._entities';

/** A field or a reference that a caller can reach without meeting the requirements of its handler. */
export interface UnguardedField {
  readonly handler: Handler;
  /**
   * The root field that leads to it, such as `Query.openings`; `undefined` if the schema could not be read.
   */
  readonly through: string | undefined;
}

/**
 * Returns the fields and references that have a rule and can be reached without its check. Without
 * `fieldResolverEnhancers: ['guards']`, Nest runs no guards on them, so only the guards of the root fields
 * decide.
 */
export function unguardedFieldsOf(handlers: readonly Handler[], context: AuditContext): UnguardedField[] {
  if (context.fieldsAreGuarded) return [];
  const fields = handlers.filter((handler) => isBelowRoot(handler) && handler.name !== TYPE_RESOLVER);
  return fields.flatMap((handler) => {
    const through = pathTo(handler, handlers, context);
    return through === CLOSED ? [] : [{ handler, through }];
  });
}

const CLOSED = Symbol('closed');
const ROOTS: ReadonlySet<string | undefined> = new Set(['Query', 'Mutation', 'Subscription']);

function pathTo(
  field: Handler,
  handlers: readonly Handler[],
  context: AuditContext,
): string | undefined | typeof CLOSED {
  const rule = ruleOf(field);
  const parent = typeNameOf(field);
  if (rule.kind !== 'protected' || !namesGuard(field, context.isGlobal) || parent === undefined)
    return CLOSED;
  return pathWithout(rule.requirements, parent, handlers, context);
}

/**
 * Returns whether a caller without a session gets to the guards of a handler: for a field, a root field that
 * needs no session must lead to it. Any doubt is reported as reached.
 */
export function isReached(handler: Handler, handlers: readonly Handler[], context: AuditContext): boolean {
  const type = typeNameOf(handler);
  if (!isBelowRoot(handler) || type === undefined || ROOTS.has(type)) return true;
  return pathWithout([], type, handlers, context) !== CLOSED;
}

/** Returns the root field that leads to a type without a check of requirements; `undefined` if it is unknown. */
function pathWithout(
  requirements: readonly Requirement[],
  type: string,
  handlers: readonly Handler[],
  context: AuditContext,
): string | undefined | typeof CLOSED {
  if (handlers.some((handler) => handler.kinds.has('reference') && typeNameOf(handler) === type))
    return ENTITIES;
  if (!context.rootFields) return undefined;
  const isChecked = (root: RootField): boolean => {
    const resolvers = handlers.filter((handler) => resolves(handler, root));
    const checks = resolvers.map((resolver) => requirementsOf(resolver, context.isGlobal));
    return (
      checks.length > 0 &&
      checks.every(
        (check) => check && requirements.every((one) => check.some((other) => isSameRequirement(one, other))),
      )
    );
  };
  const open = context.rootFields.find((root) => root.reaches.has(type) && !isChecked(root));
  return open ? `${open.type}.${open.name}` : CLOSED;
}
