import { ruleOf, typeNameOf, type Handler } from '../guard/handlers.js';
import type { RootField } from './schema-reach.js';
import type { AuditContext } from './audit-context.js';
import {
  isSameRequirement,
  namesGuard,
  requirementsOf,
  resolves,
  TYPE_RESOLVER,
} from './audited-handlers.js';

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
  const fields = handlers.filter(
    ({ kinds, name }) => (kinds.has('field') || kinds.has('reference')) && name !== TYPE_RESOLVER,
  );
  return fields.flatMap((handler) => {
    const through = pathTo(handler, handlers, context);
    return through === CLOSED ? [] : [{ handler, through }];
  });
}

const CLOSED = Symbol('closed');

function pathTo(
  field: Handler,
  handlers: readonly Handler[],
  context: AuditContext,
): string | undefined | typeof CLOSED {
  const rule = ruleOf(field);
  const parent = typeNameOf(field);
  if (rule.kind !== 'protected' || !namesGuard(field, context.isGlobal) || parent === undefined)
    return CLOSED;
  if (handlers.some((handler) => handler.kinds.has('reference') && typeNameOf(handler) === parent))
    return ENTITIES;
  if (!context.rootFields) return undefined;
  const isChecked = (root: RootField): boolean => {
    const resolvers = handlers.filter((handler) => resolves(handler, root));
    const checks = resolvers.map((resolver) => requirementsOf(resolver, context.isGlobal));
    return (
      checks.length > 0 &&
      checks.every(
        (check) =>
          check && rule.requirements.every((one) => check.some((other) => isSameRequirement(one, other))),
      )
    );
  };
  const open = context.rootFields.find((root) => root.reaches.has(parent) && !isChecked(root));
  return open ? `${open.type}.${open.name}` : CLOSED;
}
