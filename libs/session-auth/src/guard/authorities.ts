import type { ExecutionContext } from '@nestjs/common';
import type { AccessRule } from './access/access-rule.js';
import type { Challenges } from './http/challenges.js';
import type { HttpRequest } from './http/http-request.js';
import type { GuardedCall } from './transport.js';

/** The rule of a handler that is not public. */
export type ClosedRule = Exclude<AccessRule, { kind: 'public' }>;

/**
 * Returns the name of the registration that checks a call: that of a tenant or a region, or `'default'`. In every kind of context,
 * `request.headers` has lower-case names; over a socket, they are those of the request that opened it. An exception, and any value that is not the name of a registration, such as a promise, deny the call: 401.
 */
export type AuthorityResolver = (context: ExecutionContext, request: HttpRequest) => string;

/** The guard of one registration. */
export interface CallGuard {
  /** Admits a call that the session service of the registration authenticates, or denies it. */
  admit(call: GuardedCall, rule: ClosedRule): true | Promise<true>;
}

/** The registrations of an application, as the guard of the registration without a name selects them. */
export interface Authorities {
  /** Whether the option `authority` selects a registration for each call. */
  readonly arePerCall: boolean;
  /** Returns the guard that checks a call: `own`, or that of another registration; `undefined` if there is no such registration. */
  guardOf(call: GuardedCall, authority: string | undefined, own: CallGuard): CallGuard | undefined;
  /** Returns the challenges of a registration with a name; `undefined` if there is no such registration. */
  challengesOf(name: string): Challenges | undefined;
}
