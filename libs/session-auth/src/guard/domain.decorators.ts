import type { ExecutionContext } from '@nestjs/common';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { CclInfo, UserRecord } from '../contract/user-record.js';
import { requiring } from './access-decorator.js';
import { callParameter } from './call-parameter.js';
import type { CurrentUserRecord } from './current-user.decorator.js';

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
