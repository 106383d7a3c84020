import { parameterNameOf } from '../guard/access-metadata.js';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import { ruleOf } from '../guard/access-rules.js';
import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { decoratedParametersOf, GUARDS_PROXY, isNamed, requirementsOf } from './audited-handlers.js';
import { hasParameter, pathsOf } from './routes.js';

/** Returns the paths of a route that lack a parameter of the rule, which therefore denies every call. */
export function missingParametersOf(
  handler: Handler,
  { prefixes }: AuditContext,
): { readonly parameter: string; readonly path: string }[] {
  if (!handler.kinds.has('route')) return [];
  const names = new Set(requirementsOf(handler)?.flatMap(({ parameters }) => parameters ?? []));
  return pathsOf(handler, prefixes).flatMap((path) =>
    [...names].filter((name) => !hasParameter(path, name)).map((parameter) => ({ parameter, path })),
  );
}

/**
 * Returns the decorators of this library on parameters of a handler whose session no guard checks: their
 * values are always `undefined`. A field is left out, because it has the user of its root field. So is a
 * handler with a guard of the application, which may set the user itself.
 */
export function unguardedParametersOf(handler: Handler): string[] {
  if (handler.kinds.has('field') || mayHaveUser(handler)) return [];
  const factories = Object.values(decoratedParametersOf(handler)).flatMap(({ factory }) => factory ?? []);
  return [...new Set(factories.flatMap((factory) => parameterNameOf(factory) ?? []))];
}

/** Guards that set no user. Many applications register that of `@nestjs/throttler` globally. */
const WITHOUT_USER: ReadonlySet<unknown> = new Set([GUARDS_PROXY, 'ThrottlerGuard']);

function mayHaveUser(handler: Handler): boolean {
  const all = handler.guards.filter((guard) => !isNamed(guard, WITHOUT_USER));
  if (all.some((guard) => !isSessionAuthGuard(guard))) return true;
  return all.length > 0 && ruleOf(handler).kind !== 'public';
}
