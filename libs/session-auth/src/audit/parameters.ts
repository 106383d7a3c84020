import { parameterNameOf } from '../guard/access-metadata.js';
import { isSessionAuthGuard } from '../guard/enhancers.js';
import { ruleOf, type Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { decoratedParametersOf, GUARDS_PROXY, isNamed, requirementsOf } from './audited-handlers.js';
import { hasParameter, pathsOf } from './routes.js';

/** A path of a route that lacks a parameter of the rule, which therefore denies every call. */
interface MissingParameter {
  readonly parameter: string;
  readonly path: string;
}

export function missingParametersOf(
  handler: Handler,
  { isGlobal, prefixes }: AuditContext,
): MissingParameter[] {
  if (!handler.kinds.has('route')) return [];
  const parameters = requirementsOf(handler, isGlobal)?.flatMap(({ parameters: names }) => names ?? []) ?? [];
  return pathsOf(handler, prefixes).flatMap((path) =>
    [...new Set(parameters)]
      .filter((parameter) => !hasParameter(path, parameter))
      .map((parameter) => ({ parameter, path })),
  );
}

/**
 * Returns the decorators of this library on parameters of a handler whose session no guard checks: their
 * values are always `undefined`. A field is left out, because it has the user of its root field. So is a
 * handler with a guard of the application, which may set the user itself.
 */
export function unguardedParametersOf(handler: Handler, context: AuditContext): string[] {
  if (handler.kinds.has('field') || mayHaveUser(handler, context)) return [];
  const factories = Object.values(decoratedParametersOf(handler)).flatMap(({ factory }) => factory ?? []);
  return [...new Set(factories.flatMap((factory) => parameterNameOf(factory) ?? []))];
}

/**
 * Guards that set no user: the proxy of the global guards, and that of `@nestjs/throttler`, which many
 * applications register globally.
 */
const WITHOUT_USER: ReadonlySet<unknown> = new Set([GUARDS_PROXY, 'ThrottlerGuard']);

function mayHaveUser(handler: Handler, { guards }: AuditContext): boolean {
  const all = [...guards, ...handler.guards].filter((guard) => !isNamed(guard, WITHOUT_USER));
  if (all.some((guard) => !isSessionAuthGuard(guard))) return true;
  return all.length > 0 && ruleOf(handler).kind !== 'public';
}
