import type { ExecutionContext, Type } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { CclInfo } from '../contract/record/user-record.js';
import type { LocalUser, RoleName, SubRoleName } from '../contract/session-auth-types.js';
import { callParameter } from './transport.js';
import {
  acknowledge,
  declareRequirement,
  KEEP_OPEN,
  OPEN_KEY,
  recordDecorated,
  REPORT_ONLY,
  type RequirementKind,
} from './access-metadata.js';
import type { AskPolicy } from './access-rules.js';
import { isClassWith } from './is-class.js';
import type { CurrentUserRecord, FlagsOf } from './current-user.decorator.js';
import { applyBesideRule } from './enhancers.js';
import { SessionAuthGuard } from './session-auth.guard.js';
import type { Requirement } from './access-rule.js';

/**
 * Opens a handler: no check, and no call to the service. Applies no guard. On a controller, it does not open
 * a handler that has a requirement or names `SessionAuthGuard`, nor a subclass that names it.
 */
export const Public = (): ClassDecorator & MethodDecorator => decorate((target) => opensBy(target, 'public'));

/**
 * Admits a call without a token, or with a refused one: the handler then runs without a user. If the service
 * is unavailable or refuses this application, the call is still denied, with 503 or 403. Applies
 * `SessionAuthGuard`.
 *
 * @example
 * ```ts
 * class Home { @Get() @OptionalAuth() greet(@CurrentUser() user?: UserRecord) { return user?.username; } }
 * ```
 */
export const OptionalAuth = (): ClassDecorator & MethodDecorator =>
  withGuard((target) => opensBy(target, 'optional'));

function opensBy(target: object, open: 'public' | 'optional'): void {
  const earlier: unknown = Reflect.getOwnMetadata(OPEN_KEY, target);
  Reflect.defineMetadata(OPEN_KEY, open, target);
  if (earlier !== undefined && earlier !== open)
    throw new InvalidConfigurationError('@Public() is beside @OptionalAuth(). Remove one of them.');
}

/**
 * Lets what a handler opens outlive its session: a download that was paid for, for example. All other
 * streams, subscriptions and gRPC calls that a guard admits end when their session ends. On a controller, for
 * all of its handlers. Applies no guard. The access map shows it.
 */
export const KeepOpen = (): ClassDecorator & MethodDecorator => mark(KEEP_OPEN);

/**
 * Does what the option `reportOnly` does, for one route, or for the routes of a controller: the guard denies
 * nothing there. Put it beside the rule: a route or a subclass with its own rule or guard is still enforced.
 * Applies no guard.
 */
export const ReportOnly = (): ClassDecorator & MethodDecorator => mark(REPORT_ONLY);

/**
 * Accepts what the audit warns of on a handler, such as a cache that answers all users: the audit does not
 * log it, and `audit: 'error'` lets the application start. The access map shows the reason. A rule that is
 * certain to have no effect still stops the application.
 * @throws InvalidConfigurationError if the reason is empty
 */
export function AcknowledgeAudit(reason: string): MethodDecorator {
  if (typeof reason !== 'string' || reason.trim() === '') {
    throw new InvalidConfigurationError(
      "@AcknowledgeAudit() needs a reason: say why the audit's warning is right as it is.",
    );
  }
  return (_target, name, { value }) => acknowledge(methodIn(value, name), reason);
}

type Listed<Name> = Name | readonly Name[];

/**
 * Requires the user's `role` to be one of these names, or of the names in these lists. The match is exact and
 * case-sensitive. A handler's list replaces its controller's. Applies `SessionAuthGuard`.
 *
 * @example
 * ```ts
 * class Openings { @Get() @Roles('hiring_manager', 'recruiter') list() {} }
 * ```
 * @throws InvalidConfigurationError if there is no name, or an empty one
 */
export function Roles(...names: [Listed<RoleName>, ...Listed<RoleName>[]]): ClassDecorator & MethodDecorator {
  return oneOf('Roles', 'role', names);
}

/**
 * Requires the user's `sub_role` to be one of these names. With {@link Roles} on the same handler, both must
 * be met. Otherwise as {@link Roles}.
 * @throws InvalidConfigurationError if there is no name, or an empty one
 */
export function SubRoles(
  ...names: [Listed<SubRoleName>, ...Listed<SubRoleName>[]]
): ClassDecorator & MethodDecorator {
  return oneOf('SubRoles', 'sub_role', names);
}

function oneOf(
  kind: RequirementKind,
  field: 'role' | 'sub_role',
  listed: readonly unknown[],
): AccessDecorator {
  const names = namesOf(kind, listed);
  const allowed: readonly unknown[] = names;
  return requiring(kind, names, ({ user }) => allowed.includes(user[field]));
}

/**
 * A rule of {@link Authorize}. `localUser` is what `loadUser` has loaded. The type of its `user` may be the
 * application's own record class.
 */
export type AuthorizationRule = {
  /**
   * Returns whether the user has access: `true`, or a promise of it. Any other value denies. An
   * `HttpException` that it throws is the answer.
   */
  rule(user: CurrentUserRecord, context: ExecutionContext, localUser: LocalUser): boolean | Promise<boolean>;
}['rule'];

/**
 * A rule with dependencies, for `@Authorize(OwnsOpening)`: a provider, of the module of the handler or of
 * another one. A request-scoped policy is resolved for each call. `localUser` is what `loadUser` has loaded.
 */
export interface AuthorizationPolicy {
  /**
   * Returns whether the user has access: `true`, or a promise of it. Any other value denies. An
   * `HttpException` that it throws is the answer.
   */
  allows(
    user: CurrentUserRecord,
    context: ExecutionContext,
    localUser: LocalUser,
  ): boolean | Promise<boolean>;
}

/** The class of an {@link AuthorizationPolicy}. */
export type PolicyClass = Type<AuthorizationPolicy>;

/**
 * Requires a rule of your own, synchronous or asynchronous: a function, or the class of an
 * {@link AuthorizationPolicy}, which is among the `providers` of a module. Only `true` admits. An
 * `HttpException` that it throws is the answer, such as a 404 that hides the resource; with any other
 * exception or rejection, or after `timeoutMs`, the answer is 503 (`AccessCheckFailedError`). A handler's rule
 * replaces its controller's. Applies `SessionAuthGuard`.
 *
 * @example
 * ```ts
 * class OfAcme implements AuthorizationPolicy {
 *   allows(user: UserRecord) { return user.client_name === 'Acme'; }
 * }
 * class Openings { @Get() @Authorize(OfAcme) list() {} }
 * class Jobs { @Get() @Authorize(({ ats_enabled }) => ats_enabled === true) list() {} }
 * ```
 * @throws InvalidConfigurationError if `rule` is neither. At bootstrap, if no module provides a policy, or it
 * has no method `allows`
 */
export function Authorize(rule: AuthorizationRule | PolicyClass): ClassDecorator & MethodDecorator {
  if (isClassWith('allows', rule)) return requiring('Authorize', [rule.name], () => false, { policy: rule });
  if (typeof rule !== 'function')
    throw new InvalidConfigurationError(
      '@Authorize() needs a function or a class: give it your rule, or a policy with allows(user, context).',
    );
  // Without the option `loadUser`, there is no user of the application.
  const ask = rule as AskPolicy;
  return requiring('Authorize', [rule.name === '' ? 'function' : rule.name], (call) =>
    ask(call.user, call.context, call.localUser),
  );
}

/**
 * Requires, for dangerous handlers, that the service confirmed the session within the last `maxAgeMs`
 * milliseconds (an integer from 0). With 0, the default, the request calls the service: a cached session or an
 * earlier call does not suffice, even if it did for another handler of the same request. The handlers of one
 * request share the call. Never accepts a stale session. Closes a handler of a `@Public()` controller. Applies
 * `SessionAuthGuard`.
 * @throws InvalidConfigurationError if `maxAgeMs` is not an integer of 0 or more
 */
export function FreshSession({ maxAgeMs = 0 }: { readonly maxAgeMs?: number } = {}): ClassDecorator &
  MethodDecorator {
  if (!Number.isInteger(maxAgeMs) || maxAgeMs < 0)
    throw new InvalidConfigurationError(
      '@FreshSession() needs maxAgeMs as a whole number of milliseconds, 0 or more.',
    );
  return requiring('FreshSession', [`maxAgeMs: ${maxAgeMs}`], () => true, { maxAgeMs });
}

function namesOf(decorator: RequirementKind, listed: readonly unknown[]): readonly string[] {
  const names: readonly unknown[] = listed.flat();
  const valid = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (valid.length === 0 || valid.length !== names.length)
    throw new InvalidConfigurationError(
      `@${decorator}() needs at least one name, each a non-empty string: write @${decorator}('name').`,
    );
  return [...new Set(valid)];
}

/** The name of a boolean field of the user record, such as `ats_enabled`. */
export type UserFlag = FlagsOf<CurrentUserRecord>;

/**
 * Requires all of these fields of the user record to be `true`. An absent field is not `true`. A handler's
 * list replaces its controller's. Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError if there is no field, or an empty name
 */
export function RequireFlags(...flags: [UserFlag, ...UserFlag[]]): ClassDecorator & MethodDecorator {
  const names = namesOf('RequireFlags', flags);
  return requiring('RequireFlags', names, ({ user }) =>
    names.every((name) => (user as Readonly<Record<string, unknown>>)[name] === true),
  );
}

/** The parameter of a call for each id of `ccl_info`. */
export type CclScopeParameters = { readonly [Id in keyof CclInfo]?: string };

const IDS: ReadonlySet<string> = new Set([
  'client_id',
  'company_id',
  'location_id',
] satisfies (keyof CclInfo)[]);

/**
 * Restricts users to the data of their own client, company or location: the named parameters of the call must
 * equal the ids in the user's `ccl_info`, as in `@CclScope({ client_id: 'clientId' })` for
 * `/clients/:clientId`. Parameters are those of the route, the arguments of a GraphQL field, or the fields of
 * a message. An absent id or parameter denies. A handler's scope replaces its controller's. Applies
 * `SessionAuthGuard`.
 * @throws InvalidConfigurationError if there is no id of `ccl_info`, an unknown id, or an id without a
 * parameter
 */
export function CclScope(parameters: CclScopeParameters): ClassDecorator & MethodDecorator {
  const scope = Object.entries(parameters) as [keyof CclInfo, string][];
  if (
    scope.length === 0 ||
    !scope.every(([id, name]) => IDS.has(id) && typeof name === 'string' && name !== '')
  )
    throw new InvalidConfigurationError(
      `@CclScope() needs ids of ccl_info, and a parameter for each: give it { client_id: 'clientId' }. Valid ids: ${[...IDS].join(', ')}.`,
    );
  return requiring(
    'CclScope',
    scope.map(([id, name]) => `${id}: ${name}`),
    ({ user: { ccl_info: ids }, context }) =>
      scope.every(([id, name]) => ids !== undefined && isSameId(ids[id], callParameter(context, name))),
  );
}

/** Routes pass ids as decimal text. `007` does not equal 7, because a handler may compare text. */
function isSameId(id: number | undefined, parameter: unknown): boolean {
  return id !== undefined && (typeof parameter === 'string' ? parameter === String(id) : parameter === id);
}

type AccessDecorator = ClassDecorator & MethodDecorator;

/** Two of a kind on one target must both be met. */
function requiring(
  kind: RequirementKind,
  named: readonly string[],
  isMet: Requirement['isMet'],
  more?: Pick<Requirement, 'maxAgeMs' | 'policy'>,
): AccessDecorator {
  const requirement = { kind, text: `@${kind}(${named.join(', ')})`, isMet, ...more };
  return withGuard((target) => declareRequirement(target, requirement));
}

const mark = (key: typeof KEEP_OPEN | typeof REPORT_ONLY): AccessDecorator =>
  decorate((target) => Reflect.defineMetadata(key, true, target));

function withGuard(declare: (target: object) => void): AccessDecorator {
  return decorate((target, prototype, name) => {
    declare(target);
    applyBesideRule(target, SessionAuthGuard);
    if (name !== undefined) recordDecorated(prototype, name, target);
  });
}

function decorate(
  declare: (target: object, prototype: object, name: string | symbol | undefined) => void,
): AccessDecorator {
  return <Handler>(target: object, name?: string | symbol, descriptor?: TypedPropertyDescriptor<Handler>) =>
    declare(name === undefined ? target : methodIn(descriptor?.value, name), target, name);
}

/** A decorator on anything but a method would have no effect. */
function methodIn(method: unknown, name: string | symbol): object {
  if (typeof method === 'function') return method;
  throw new InvalidConfigurationError(
    `An access decorator is on ${String(name)}, which is not a method: put it on a class or method, in GraphQL @ResolveField().`,
  );
}
