import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { CclInfo, UserRecord } from '../../contract/record/user-record.js';
import type { RoleName, SubRoleName } from '../../contract/session-auth-types.js';
import { callParameter } from '../transports.js';
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

/** A Boolean field of the user's record, such as `ats_enabled`. */
export type UserFlag = {
  [Field in keyof CurrentUserRecord]-?: NonNullable<CurrentUserRecord[Field]> extends boolean ? Field : never;
}[keyof CurrentUserRecord];

/**
 * All of these fields of the user's record must be `true`; an absent one is not. A handler's list replaces its controller's.
 * Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when no field, or an empty name, is given.
 */
export function RequireFlags(...flags: [UserFlag, ...UserFlag[]]): ClassDecorator & MethodDecorator {
  const names = flags as readonly unknown[];
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && name !== '')) {
    throw new InvalidConfigurationError('@RequireFlags() needs at least one field of the user record: name those that must be true.');
  }
  return requiring({ kind: 'flags', isMet: (user) => flags.every((flag) => user[flag] === true) });
}

/** Which parameter of a call holds which id of `ccl_info`. */
export type CclScopeParameters = { readonly [Id in keyof CclInfo]?: string };

const IDS: ReadonlySet<string> = new Set(['client_id', 'company_id', 'location_id'] satisfies (keyof CclInfo)[]);

/**
 * Keeps one client's users from another's data: the named parameters of the call must equal the ids in the user's `ccl_info`, as in
 * `@CclScope({ client_id: 'clientId' })` for `/clients/:clientId`. Parameters are those of the route, the arguments of a GraphQL field, or the
 * fields of a message. An id or a parameter that is absent denies. A handler's scope replaces its controller's.
 * Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError when no id of `ccl_info` is given, or no parameter for one.
 */
export function CclScope(parameters: CclScopeParameters): ClassDecorator & MethodDecorator {
  const scope = Object.entries(parameters as Record<string, unknown>);
  if (scope.length === 0 || !scope.every(([id, parameter]) => IDS.has(id) && typeof parameter === 'string' && parameter !== '')) {
    throw new InvalidConfigurationError(
      `@CclScope() needs ids of ccl_info, and a parameter for each: give it { client_id: 'clientId' }. Known are ${[...IDS].join(', ')}.`,
    );
  }
  return requiring({ kind: 'ccl-scope', isMet: (user, context) => isWithin(user, scope as [keyof CclInfo, string][], context) });
}

function isWithin({ ccl_info: ids }: UserRecord, scope: readonly [keyof CclInfo, string][], context: ExecutionContext): boolean {
  return scope.every(([id, parameter]) => ids !== undefined && isSameId(ids[id], callParameter(context, parameter)));
}

/** A route writes an id in decimal digits; `007` is not 7, because a handler may compare text. */
function isSameId(id: number | undefined, parameter: unknown): boolean {
  return id !== undefined && (typeof parameter === 'string' ? parameter === String(id) : parameter === id);
}
