import 'reflect-metadata';
import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { SessionAuthError } from '../contract/errors.js';
import { denialOf, exceptionOf } from './denial.js';
import { setHeaders } from './http/http-transport.js';
import { transportOf } from './transports.js';

/**
 * Responds to a `SessionAuthError` that a handler did not catch with the status of the error. The module registers it for the whole application.
 * Nest does not apply such filters to gateways: add `@UseFilters(SessionAuthErrorFilter)` to them.
 */
@Catch(SessionAuthError)
export class SessionAuthErrorFilter extends BaseExceptionFilter {
  /** Responds in the form of the error's context: HTTP, GraphQL, a gateway or a message. */
  override catch(error: SessionAuthError, host: ArgumentsHost): unknown {
    const transport = transportOf(host);
    if (!transport) throw error;
    const denial = denialOf(error);
    if (transport.answer) return transport.answer(host, denial);
    setHeaders(host.switchToHttp().getResponse(), [['Cache-Control', 'no-store'], ...denial.headers]);
    super.catch(exceptionOf(denial), host);
    return undefined;
  }
}
