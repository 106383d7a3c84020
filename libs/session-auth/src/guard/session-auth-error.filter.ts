import { Catch, HttpException, Inject, Injectable, Optional, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { type InvalidConfigurationError, SessionAuthError } from '../contract/errors.js';
import { bodyOf } from '../contract/denials.js';
import { denialOf } from './denial.js';
import { GUARD_REGISTRATION, type GuardRegistration } from './guard-registration.js';
import { Challenge } from './challenge.js';
import { isChallenged, setHeaders, transportOf } from './transport.js';

const DEFAULT_CHALLENGE = new Challenge([]);
const INVALID_CONFIGURATION: InvalidConfigurationError['code'] = 'INVALID_CONFIGURATION';

/**
 * Responds to a `SessionAuthError` that neither a handler nor a filter of the application caught, with the
 * headers of its status. The module registers it below all filters of the application, so it replaces none.
 * Nest applies no global filters to gateways, nor to a microservice that a hybrid application connects
 * without `inheritAppConfig`: add `@UseFilters(SessionAuthErrorFilter)` there.
 */
@Injectable()
@Catch(SessionAuthError)
export class SessionAuthErrorFilter extends BaseExceptionFilter {
  readonly #challenge: Challenge;

  /** @internal Created by Nest. */
  constructor(@Optional() @Inject(GUARD_REGISTRATION) registration?: GuardRegistration) {
    super();
    this.#challenge = registration?.reader.challenge ?? DEFAULT_CHALLENGE;
  }

  /** Responds in the form of the error's context: HTTP, GraphQL, a gateway or a message. */
  override catch(error: SessionAuthError, host: ArgumentsHost): unknown {
    const transport = transportOf(host);
    if (!transport) throw error;
    if (transport.answer) return transport.answer(host, error);
    if (error.code === INVALID_CONFIGURATION) super.catch(error, host);
    else this.#reply(error, host);
    return undefined;
  }

  /**
   * Responds as Nest does to its exceptions. Nest itself would respond with 500 if the error extends an
   * exception of another copy of `@nestjs/common` than that of `@nestjs/core`.
   */
  #reply(error: SessionAuthError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<unknown>();
    const denial = denialOf(error);
    const headers = isChallenged(reply) ? [] : this.#challenge.headersOf(denial);
    setHeaders(reply, [['cache-control', 'no-store'], ...headers]);
    const adapter = this.httpAdapterHost?.httpAdapter;
    if (adapter?.isHeadersSent(reply)) adapter.end(reply);
    else
      adapter?.reply(
        reply,
        error instanceof HttpException ? error.getResponse() : bodyOf(denial),
        denial.statusCode,
      );
  }
}
