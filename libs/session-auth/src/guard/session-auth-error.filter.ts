import 'reflect-metadata';
import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { SessionAuthError } from '../contract/errors.js';
import { denialOf, exceptionOf } from './http-denial.js';
import { setHeaders } from './http-reply.js';

/** Answers an error of the service class that a controller let through with the error's own status. */
@Catch(SessionAuthError)
export class SessionAuthErrorFilter extends BaseExceptionFilter {
  override catch(error: SessionAuthError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const denial = denialOf(error);
    setHeaders(host.switchToHttp().getResponse(), [['Cache-Control', 'no-store'], ...denial.headers]);
    super.catch(exceptionOf(denial), host);
  }
}
