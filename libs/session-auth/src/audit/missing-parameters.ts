import type { Handler } from '../guard/handlers.js';
import type { AuditContext } from './audit-context.js';
import { hasParameter, pathsOf } from './route-paths.js';
import { requirementsOf } from './audited-handlers.js';

/** A path of a route that lacks a parameter of the rule, which therefore denies every call. */
interface MissingParameter {
  readonly parameter: string;
  readonly path: string;
}

/** Returns the parameters that a rule of a route reads, and that one of its paths does not have. */
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
