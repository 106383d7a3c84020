import type { ExecutionContext, Type } from '@nestjs/common';
import { isClass } from './is-class.js';
import type { AnyUserRecord } from './current-user.decorator.js';

/**
 * A rule with dependencies, for `@Authorize(OwnsOpening)`: an injectable class. If a provider of the class is
 * visible in the module of the handler, it is used. Otherwise Nest creates an instance for the module, with
 * the dependencies of the module, as it does for a guard. A request-scoped policy must be a provider: it is
 * resolved for each call.
 */
export interface AuthorizationPolicy {
  /**
   * Returns whether the user has access: `true`, or a promise of it. Any other value denies. An
   * `HttpException` that it throws is the answer.
   */
  allows(user: AnyUserRecord, context: ExecutionContext): boolean | Promise<boolean>;
}

/** The class of an {@link AuthorizationPolicy}. */
export type PolicyClass = Type<AuthorizationPolicy>;

/** Returns whether the argument of `@Authorize()` is a class, and not a function. */
export function isPolicyClass(rule: unknown): rule is PolicyClass {
  if (typeof rule !== 'function') return false;
  const prototype = rule.prototype as { readonly allows?: unknown } | undefined;
  return typeof prototype?.allows === 'function' || isClass(rule);
}
