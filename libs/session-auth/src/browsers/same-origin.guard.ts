import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ACCESS_DENIED, CROSS_ORIGIN_DENIED } from '../contract/denials.js';
import { exceptionOf, reportDenial } from '../guard/denial.js';
import { Challenge } from '../guard/challenge.js';
import { keepFromSharedCaches, transportOf } from '../guard/transport.js';
import { isCrossOrigin, type CrossOriginOptions, readTrustedOrigins } from '../guard/cross-origin.js';

const NO_CHALLENGE = new Challenge([]);

/**
 * Denies calls of other origins' pages, whether they present a session or not, with 403
 * `CROSS_ORIGIN_DENIED`: for the sign-in, which has no cookie yet. Otherwise a page of another origin could
 * sign its visitor in to the account of an attacker. GET, HEAD and OPTIONS are admitted. Handlers that
 * `SessionAuthGuard` checks don't need it: `fromCookie()` has the same check. In a gateway of ws, it denies
 * all sockets that `SessionSockets.protect()` has not admitted, because nothing is known of their pages.
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
