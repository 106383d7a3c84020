import { namesSessionAuthGuard } from '../guard/enhancers.js';
import type { Handler } from '../guard/handlers.js';
import type { Requirement } from '../guard/access-rule.js';
import { type AuditContext, finding, type Finding, placeOf } from './audit-context.js';
import {
  auditedRuleOf,
  includeAll,
  isBelowRoot,
  isGuarded,
  namesGuard,
  requirementsOf,
  TYPE_RESOLVER,
} from './audited-handlers.js';
import { resolves, typeNameOf } from './mapped-fields.js';

/** A rule of the class may be meant for its root fields; one of the field itself is not. */
export function unguardedField(handler: Handler, context: AuditContext): Finding | undefined {
  if (context.fieldsAreGuarded || !isBelowRoot(handler) || handler.name === TYPE_RESOLVER) return undefined;
  const [rule, parent] = [auditedRuleOf(handler), typeNameOf(handler)];
  if (rule.kind !== 'protected' || parent === undefined || !(isGuarded(handler) || namesGuard(handler)))
    return undefined;
  const through = pathWithout(rule.requirements, parent, context);
  if (through === CLOSED) return undefined;
  const path = through === undefined ? '' : ` through ${through}`;
  return finding(
    `${placeOf(handler)} can be reached${path} without its check: Nest runs no guards on fields and references. Set fieldResolverEnhancers: ['guards'] in GraphQLModule, or mark it @Public().`,
    through !== undefined && namesSessionAuthGuard(handler.called),
  );
}

const CLOSED = Symbol('closed');
const ROOTS: ReadonlySet<string | undefined> = new Set(['Query', 'Mutation', 'Subscription']);

/** Whether a caller without a session gets to the guards of a handler. Any doubt is reported as reached. */
export function isReached(handler: Handler, context: AuditContext): boolean {
  const type = typeNameOf(handler);
  if (!isBelowRoot(handler) || type === undefined || ROOTS.has(type)) return true;
  return pathWithout([], type, context) !== CLOSED;
}

/** The root field that leads to a type without a check of requirements; `undefined` if it is unknown. */
function pathWithout(
  requirements: readonly Requirement[],
  type: string,
  { handlers, rootFields }: AuditContext,
): string | undefined | typeof CLOSED {
  // The root field of a subgraph that resolves references.
  if (handlers.some((handler) => handler.kinds.has('reference') && typeNameOf(handler) === type))
    return 'Query._entities';
  if (!rootFields) return undefined;
  const open = rootFields.find((root) => {
    if (!root.reaches.has(type)) return false;
    const resolvers = handlers.filter((handler) => resolves(handler, root));
    return (
      resolvers.length === 0 ||
      !resolvers.map(requirementsOf).every((own) => own && includeAll(own, requirements))
    );
  });
  return open ? `${open.type}.${open.name}` : CLOSED;
}
