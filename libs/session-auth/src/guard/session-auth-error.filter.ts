import 'reflect-metadata';
import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { SessionAuthError } from '../contract/errors.js';
import { denialOf, exceptionOf } from './denial.js';
import { setHeaders } from './http/http-transport.js';
import { transportOf } from './transports.js';

/**
 * Answers an error of the service class that a handler let through with the error's own meaning. The module registers it for the whole
 * application; Nest applies no such filter to gateways: give them `@UseFilters(SessionAuthErrorFilter)`.
 */
@Catch(SessionAuthError)
export class SessionAuthErrorFilter extends BaseExceptionFilter {
  /** Answers in the way of the error's own context: HTTP, GraphQL, a gateway or a message. */
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
