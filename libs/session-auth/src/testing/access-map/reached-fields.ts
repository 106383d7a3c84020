import type { AuditContext } from '../../module/audit/audit-context.js';
import { requirementsOf, resolves } from '../../module/audit/audited-handlers.js';
import { typeNameOf, type Handler } from '../../module/handlers/handlers.js';

/** The context of a handler. */
export interface Surroundings {
  readonly handlers: readonly Handler[];
  readonly context: AuditContext;
}

const ROOTS: ReadonlySet<string | undefined> = new Set(['Query', 'Mutation', 'Subscription']);

/**
 * Returns whether a caller without a session gets to the guards of a handler: for a field, a root field that needs no session must lead to it. Any
 * doubt is reported as reached.
 */
export function isReached(handler: Handler, { handlers, context }: Surroundings): boolean {
  if (!handler.kinds.has('field') && !handler.kinds.has('reference')) return true;
  const type = typeNameOf(handler);
  if (type === undefined || ROOTS.has(type) || !context.rootFields) return true;
  // `Query._entities` resolves the types that have references.
  if (handlers.some((other) => other.kinds.has('reference') && typeNameOf(other) === type)) return true;
  return context.rootFields.some((root) => {
    if (!root.reaches.has(type)) return false;
    const resolvers = handlers.filter((other) => resolves(other, root));
    return resolvers.length === 0 || resolvers.some((resolver) => !requirementsOf(resolver, context.isGlobal));
  });
}
