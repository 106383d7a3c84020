import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ACCESS_DENIED, CROSS_ORIGIN_DENIED } from '../contract/denials.js';
import { exceptionOf, reportDenial } from '../guard/denial.js';
import { Challenge } from '../guard/challenge.js';
import { keepFromSharedCaches, transportOf } from '../guard/transport.js';
import { isCrossOrigin, type CrossOriginOptions, readTrustedOrigins } from '../guard/cross-origin.js';

const NO_CHALLENGE = new Challenge([]);

/**
 * Denies requests that pages of other origins send, with or without a session: 403 `CROSS_ORIGIN_DENIED`. Put
 * it on the sign-in, which has no cookie yet. Otherwise, a page of another origin could sign its visitors in
 * to the account of an attacker. Handlers that `SessionAuthGuard` checks don't need it: `fromCookie()` has the
 * same check.
 *
 * Admits GET, HEAD and OPTIONS, an `Origin` of `trustedOrigins`, and a `Sec-Fetch-Site` of `same-origin` or
 * `none`. Without `Sec-Fetch-Site`, `Origin` must match `Host`. A request without both is not from a browser,
 * and is admitted. A gateway of ws must call `SessionSockets.protect()`, or all its sockets are denied.
 *
 * @example
 * ```ts
 * class SignIns { @Post() @Public() @UseGuards(SameOriginGuard) signIn() {} }
 * ```
 */
export class SameOriginGuard implements CanActivate {
  readonly #trusted: ReadonlySet<string>;

  /** @throws InvalidConfigurationError if an origin is invalid */
  constructor(options: CrossOriginOptions = {}) {
    this.#trusted = readTrustedOrigins('SameOriginGuard', options);
  }

  /**
   * Returns `true`, or rejects.
   * @throws AccessDeniedError (403) over HTTP and in GraphQL, WsException in a gateway, RpcException in a
   * message handler
   */
  canActivate(context: ExecutionContext): true | Promise<never> {
    const call = transportOf(context)?.open(context);
    if (!call) return Promise.reject(exceptionOf(ACCESS_DENIED));
    if (!isCrossOrigin(call.request, this.#trusted)) return true;
    keepFromSharedCaches(call.reply, '');
    reportDenial(CROSS_ORIGIN_DENIED);
    return call.transport.deny(call, CROSS_ORIGIN_DENIED, NO_CHALLENGE);
  }
}
