import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { RoleName, SubRoleName } from '../contract/session-auth-types.js';
import { optionalAccess, publicAccess, requiring } from './access-decorator.js';
import type { CurrentUserRecord } from './current-user.decorator.js';

/** No check, and no call to the service. It applies no guard. On a controller it does not open a handler that requires something. */
export const Public = (): ClassDecorator & MethodDecorator => publicAccess();

/**
 * No token, or a refused one: the handler runs with no user. A service that is unavailable, or that refuses this application,
 * is still an error: 503 or 403. Applies `SessionAuthGuard`.
 */
export const OptionalAuth = (): ClassDecorator & MethodDecorator => optionalAccess();

/**
 * The user's `role` must be one of these, exactly and case-sensitively. A handler's list replaces its controller's.
 * Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when no name, or an empty one, is given.
 */
export function Roles(...names: [RoleName, ...RoleName[]]): ClassDecorator & MethodDecorator {
  const allowed = namesOf('Roles', names);
  return requiring({ kind: 'roles', isMet: ({ role }) => role !== undefined && allowed.has(role) });
}

/**
 * The user's `sub_role` must be one of these, exactly and case-sensitively. Beside {@link Roles} both must hold.
 * A handler's list replaces its controller's. Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when no name, or an empty one, is given.
 */
export function SubRoles(...names: [SubRoleName, ...SubRoleName[]]): ClassDecorator & MethodDecorator {
  const allowed = namesOf('SubRoles', names);
  return requiring({ kind: 'sub-roles', isMet: ({ sub_role: subRole }) => subRole !== undefined && allowed.has(subRole) });
}

/** A rule of {@link Authorize}; its user may be declared as the application's own record class. */
export type AuthorizationRule = {
  /** Whether the user may enter: `true`, or a promise of it. Anything else, a throw and a rejection deny. */
  rule(user: CurrentUserRecord, context: ExecutionContext): boolean | Promise<boolean>;
}['rule'];

/**
 * Your own rule, sync or async. Only `true` admits; a throw or a rejection denies. A handler's rule replaces its controller's.
 * Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when it is given no function
 */
export function Authorize(rule: AuthorizationRule): ClassDecorator & MethodDecorator {
  if (typeof rule !== 'function') throw new InvalidConfigurationError('@Authorize() needs a function: give it your rule.');
  return requiring({ kind: 'authorize', isMet: (user, context) => rule(user, context) });
}

/**
 * For dangerous handlers: the session must have been confirmed by the service within `maxAgeMs` milliseconds. With 0, the default, the
 * service is asked for this request: no cached session, stale session or older call will do, whatever another handler of the same request
 * was satisfied with. The handlers of one request share the call. It closes a handler of a `@Public()` controller, is never answered by a
 * stale session, and applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when `maxAgeMs` is no number of milliseconds
 */
export function FreshSession({ maxAgeMs = 0 }: { readonly maxAgeMs?: number } = {}): ClassDecorator & MethodDecorator {
  if (!Number.isInteger(maxAgeMs) || maxAgeMs < 0) {
    throw new InvalidConfigurationError('@FreshSession() needs maxAgeMs as a whole number of milliseconds, 0 or more.');
  }
  return requiring({ kind: 'fresh-session', isMet: () => true, maxAgeMs });
}

function namesOf(decorator: string, names: readonly unknown[]): ReadonlySet<string> {
  const valid = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (valid.length === 0 || valid.length !== names.length) {
    throw new InvalidConfigurationError(
      `@${decorator}() needs at least one name, each a non-empty string: give it the names that may enter.`,
    );
  }
  return new Set(valid);
}
