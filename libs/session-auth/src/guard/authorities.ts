import type { ExecutionContext } from '@nestjs/common';
import type { AccessRule } from './access-rule.js';
import type { HttpRequest } from './http-request.js';
import type { GuardedCall } from './transport.js';

/** The rule of a handler that is not public. */
export type ClosedRule = Exclude<AccessRule, { kind: 'public' }>;

/**
 * Returns the name of the registration that checks a call: that of a tenant or a region, or `'default'`. In
 * every kind of context, `request.headers` has lower-case names; over a socket, they are those of the request
 * that opened it. An exception, and any value that is not the name of a registration, such as a promise, deny
 * the call: 401.
 */
export type AuthorityResolver = (context: ExecutionContext, request: HttpRequest) => string;

/** The guard of one registration. */
export interface CallGuard {
  /** Admits a call that the session service of the registration authenticates, or denies it. */
  admit(call: GuardedCall, rule: ClosedRule): true | Promise<true>;
}
